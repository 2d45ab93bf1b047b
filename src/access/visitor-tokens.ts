import { errors, type JWTPayload, jwtVerify } from 'jose';
import { AppError, type Clock, type Log, LruCache, type SecretBox } from '../base/index.ts';
import { asSingleLine, type DeploymentJwt, type EndUser } from '../contract/index.ts';
import { RemoteKeySet } from './key-set.ts';
import type { KeySetSource } from './key-set-download.ts';
import { VisitorKeys } from './visitor-keys.ts';

export interface VisitorTokensOptions {
	secrets: SecretBox;
	network: KeySetSource;
	clock: Clock;
	log: Log;
	/** Milliseconds that fetching a key set may take. */
	fetchTimeoutMs?: number;
}

/** The claims of a valid token. */
export interface VerifiedToken {
	/** The token's subject. */
	end_user: EndUser;
	/** When the token expires (milliseconds since the epoch), with the tolerance for clocks. */
	expiresAt: number;
}

const MAX_TOKEN_BYTES = 8 * 1024;
/** Seconds that the clocks of signer and verifier may differ. */
const TOLERANCE_SECONDS = 30;
const MAX_CLAIM_LENGTH = 500;
/** Key sets in memory, each at most 128 KiB. */
const MAX_KEY_SETS = 500;

/** Verifies the tokens that identify visitors (RFC 7519), by the settings of each deployment. */
export class VisitorTokens {
	readonly #options: VisitorTokensOptions;
	readonly #keys: VisitorKeys;
	readonly #keySets = new LruCache<string, RemoteKeySet>(MAX_KEY_SETS);

	constructor(options: VisitorTokensOptions) {
		this.#options = options;
		this.#keys = new VisitorKeys(options.secrets);
	}

	/**
	 * Identifies the visitor by a request's Authorization header.
	 * @throws AppError `invalid_jwt`, or `unavailable` while the key set cannot be downloaded
	 */
	async verify(settings: DeploymentJwt | null, authorization: string | undefined): Promise<VerifiedToken> {
		return this.verifyToken(settings, tokenOf(authorization));
	}

	/**
	 * Identifies the visitor by a token.
	 * @throws AppError `invalid_jwt`, or `unavailable` while the key set cannot be downloaded
	 */
	async verifyToken(settings: DeploymentJwt | null, token: string): Promise<VerifiedToken> {
		if (Buffer.byteLength(token) > MAX_TOKEN_BYTES) {
			throw invalidTokenError(`The JWT is longer than ${MAX_TOKEN_BYTES} bytes.`);
		}
		// Tokens are required, but were never configured.
		if (settings === null || isKeyless(settings)) {
			throw invalidTokenError('The deployment has no key to verify a JWT with.');
		}
		const { algorithm, audience, issuer, jwks_url } = settings;
		const rules = {
			algorithms: [algorithm],
			requiredClaims: ['sub', 'exp'],
			clockTolerance: TOLERANCE_SECONDS,
			currentDate: new Date(this.#options.clock.now()),
			...(audience === null ? {} : { audience }),
			...(issuer === null ? {} : { issuer }),
		};
		const key = jwks_url === null ? await this.#keys.keyFor(settings) : this.#keySet(jwks_url).find;
		try {
			const { payload } = await (typeof key === 'function'
				? jwtVerify(token, key, rules)
				: jwtVerify(token, key, rules));
			return { end_user: endUserOf(payload), expiresAt: tokenExpiryOf(payload) };
		} catch (error) {
			if (!(error instanceof errors.JOSEError)) throw error;
			// Without the cause, which holds personal data from the token.
			throw invalidTokenError(messageFor(error, algorithm));
		}
	}

	#keySet(url: string): RemoteKeySet {
		let set = this.#keySets.get(url);
		if (!set) {
			const { network: source, clock, log, fetchTimeoutMs } = this.#options;
			set = new RemoteKeySet(url, { source, clock, log, ...(fetchTimeoutMs === undefined ? {} : { fetchTimeoutMs }) });
			this.#keySets.set(url, set);
		}
		return set;
	}
}

/** Whether the key is missing: "parley secrets reset" erases secrets. */
function isKeyless({ secret, public_key, jwks_url }: DeploymentJwt): boolean {
	return secret === null && public_key === null && jwks_url === null;
}

function tokenOf(authorization: string | undefined): string {
	if (authorization === undefined) {
		throw invalidTokenError('This deployment requires a token of the visitor: send "Authorization: Bearer <JWT>".');
	}
	const token = /^bearer +([\w.-]+) *$/i.exec(authorization)?.[1];
	if (token === undefined) throw invalidTokenError('The Authorization header does not hold a JWT: "Bearer <JWT>".');
	return token;
}

/**
 * The end user of a verified token. Names that are not text or too long are left out, and control characters are removed from others.
 * `sub` stays unchanged: two users must not become one.
 */
function endUserOf({ sub, name, email }: JWTPayload): EndUser {
	if (!isText(sub))
		throw invalidTokenError(`The claim sub of the JWT must be text of 1 to ${MAX_CLAIM_LENGTH} characters.`);
	return { id: sub, name: isText(name) ? asSingleLine(name) : null, email: isText(email) ? asSingleLine(email) : null };
}

/** The first whole second at which a token has expired (RFC 7519, 4.1.4), as the verifier counts. */
function tokenExpiryOf({ exp }: JWTPayload): number {
	return Math.ceil((exp as number) + TOLERANCE_SECONDS) * 1000;
}

/** Text that is unchanged by storage: half a surrogate pair would change, and two users could become one. */
function isText(value: unknown): value is string {
	if (typeof value !== 'string' || value === '' || [...value].length > MAX_CLAIM_LENGTH) return false;
	return Buffer.from(value).toString() === value;
}

/** The problem of a token, without quoting it. */
function messageFor(error: errors.JOSEError, algorithm: string): string {
	if (error instanceof errors.JWTExpired) return 'The JWT has expired.';
	if (error instanceof errors.JWTClaimValidationFailed) return messageForClaim(error);
	if (error instanceof errors.JOSEAlgNotAllowed) return `The JWT is not signed with ${algorithm}.`;
	if (error instanceof errors.JOSENotSupported)
		return 'The JWT asks for an extension (crit) that is not understood here.';
	if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the JWT is not valid.';
	if (error instanceof errors.JWKSNoMatchingKey) return 'The key set has no key that matches the JWT (kid).';
	if (error instanceof errors.JWKSMultipleMatchingKeys)
		return 'The JWT does not say which key of the key set signed it (kid).';
	return 'This is not a well-formed, signed JWT.';
}

function messageForClaim({ claim, reason }: errors.JWTClaimValidationFailed): string {
	if (reason === 'missing') return `The JWT lacks the claim ${claim}.`;
	if (reason === 'invalid') return `The claim ${claim} of the JWT is not of the right type.`;
	if (claim === 'nbf') return 'The JWT is not valid yet (nbf).';
	if (claim === 'aud') return 'The JWT is meant for another audience (aud).';
	if (claim === 'iss') return 'The JWT comes from another issuer (iss).';
	return `The claim ${claim} of the JWT is not what it must be.`;
}

function invalidTokenError(message: string): AppError {
	return new AppError('invalid_jwt', message);
}
