import { createPublicKey, type KeyObject } from 'node:crypto';
import { AppError, type ErrorDetail, type SecretBox } from '../base/index.ts';
import { type DeploymentJwt, type DeploymentJwtPatch, HIDDEN_SECRET } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import { isAllowedRsaLength, RSA_BITS, SEAL_PURPOSE } from './visitor-keys.ts';

export interface VisitorTokenSettingsOptions {
	secrets: SecretBox;
	network: Pick<Network, 'checkUrl'>;
}

/** The length of the hash (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;
const PEM = /^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----$/;

const NO_SETTINGS = { secret: null, public_key: null, jwks_url: null, audience: null, issuer: null };

/** Validates how a deployment verifies its visitors' tokens, and seals the secret before it is stored. */
export class VisitorTokenSettings {
	readonly #secrets: SecretBox;
	readonly #network: Pick<Network, 'checkUrl'>;

	constructor({ secrets, network }: VisitorTokenSettingsOptions) {
		this.#secrets = secrets;
		this.#network = network;
	}

	/**
	 * The settings after a JSON merge patch (RFC 7396).
	 * @param stored the present settings, with the secret sealed
	 * @param patch null clears them
	 * @throws AppError `invalid_request` or `url_not_allowed`, with details below `/jwt`
	 */
	merge(stored: DeploymentJwt | null, patch: DeploymentJwtPatch | null): DeploymentJwt | null {
		if (patch === null) return null;
		const { secret, ...rest } = patch;
		const { algorithm, ...merged } = { ...NO_SETTINGS, ...stored, ...definedMembers(rest) };
		if (algorithm === undefined) throw invalidSettingsError([{ path: '/jwt/algorithm', message: 'is required' }]);
		const settings: DeploymentJwt = { algorithm, ...merged };
		const isNew = secret !== undefined && secret !== HIDDEN_SECRET;
		if (isNew) settings.secret = secret;
		const details = algorithm === 'HS256' ? symmetricKeyErrors(settings, isNew) : asymmetricKeyErrors(settings);
		if (details.length > 0) throw invalidSettingsError(details);
		if (settings.jwks_url !== null) this.#checkUrl(settings.jwks_url);
		if (isNew && secret !== null) settings.secret = this.#secrets.seal(secret, SEAL_PURPOSE);
		return settings;
	}

	#checkUrl(url: string): void {
		try {
			this.#network.checkUrl(url, { httpsOnly: true });
		} catch (thrown) {
			if (!(thrown instanceof AppError)) throw thrown;
			const details = [{ path: '/jwt/jwks_url', message: thrown.message }];
			throw new AppError(thrown.code, thrown.message, { details, cause: thrown });
		}
	}
}

/** @param isNew whether the secret is plain text; a sealed one was validated when it was set */
function symmetricKeyErrors({ secret, public_key, jwks_url }: DeploymentJwt, isNew: boolean): ErrorDetail[] {
	const details: ErrorDetail[] = [];
	const only = 'must be null: with HS256 the key is secret';
	if (public_key !== null) details.push({ path: '/jwt/public_key', message: only });
	if (jwks_url !== null) details.push({ path: '/jwt/jwks_url', message: only });
	if (secret === null) details.push({ path: '/jwt/secret', message: 'is required with HS256' });
	else if (isNew && Buffer.byteLength(secret) < SECRET_BYTES) {
		details.push({ path: '/jwt/secret', message: `must be at least ${SECRET_BYTES} bytes long` });
	}
	return details;
}

function asymmetricKeyErrors({ algorithm, secret, public_key, jwks_url }: DeploymentJwt): ErrorDetail[] {
	const details: ErrorDetail[] = [];
	if (secret !== null) {
		const message = `must be null: with ${algorithm} the key is public_key or at jwks_url`;
		details.push({ path: '/jwt/secret', message });
	}
	if (public_key === null && jwks_url === null) {
		details.push({ path: '/jwt/public_key', message: `or jwks_url is required with ${algorithm}` });
	}
	if (public_key !== null && jwks_url !== null) {
		details.push({ path: '/jwt/jwks_url', message: 'must be null where public_key is given' });
	}
	const message = public_key === null ? null : publicKeyProblem(public_key, algorithm);
	if (message !== null) details.push({ path: '/jwt/public_key', message });
	return details;
}

/** The problem of a public key, or null. */
function publicKeyProblem(pem: string, algorithm: DeploymentJwt['algorithm']): string | null {
	// A private key contains its public key and would be accepted, but it must not be stored here.
	if (!PEM.test(pem.trim())) return 'must be one public key as PEM (-----BEGIN PUBLIC KEY-----)';
	let key: KeyObject;
	try {
		key = createPublicKey({ key: pem.trim(), format: 'pem', type: 'spki' });
	} catch {
		return 'is not a public key that can be read';
	}
	const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
	if (algorithm === 'ES256') {
		return key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1' ? null : 'must be a P-256 key for ES256';
	}
	return key.asymmetricKeyType === 'rsa' && isAllowedRsaLength(modulusLength)
		? null
		: `must be an RSA key of ${RSA_BITS.least} to ${RSA_BITS.most} bits for RS256`;
}

/** The members of a patch that are present. */
function definedMembers<P extends object>(patch: P): Partial<P> {
	return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<P>;
}

function invalidSettingsError(details: ErrorDetail[]): AppError {
	const [first] = details;
	return new AppError('invalid_request', first && `${first.path} ${first.message}.`, { details });
}
