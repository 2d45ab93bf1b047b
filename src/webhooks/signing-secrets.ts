import { randomBytes } from 'node:crypto';
import { AppError, type SecretBox } from '../base/index.ts';
import type { WebhookRecord } from '../store/index.ts';

/** The stored secrets of an endpoint, each sealed. */
type StoredSecrets = Pick<WebhookRecord, 'secret' | 'former_secrets'>;

const PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 32;
/** The sizes that Standard Webhooks allows. */
const SIGNING_SECRET_BYTES = { min: 24, max: 64 } as const;
/** How long a former secret still signs beside its replacement. */
const FORMER_SECRET_TTL_MS = 24 * 3_600_000;
/** Former secrets that may sign: each adds a value to a header. */
const MAX_FORMER_SECRETS = 10;
const SEAL_PURPOSE = 'webhook secrets';
/** The value of a forgotten secret. No sealed text is empty. */
const CLEARED = '';

/** A new secret: `whsec_` and the Base64 of 32 random bytes. */
export function newSigningSecret(): string {
	return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/** The secrets of an endpoint after a reset of the secret key. The endpoint can be enabled when it has a new secret. */
export function clearedSecrets(): StoredSecrets {
	return { secret: CLEARED, former_secrets: [] };
}

/** Whether an endpoint lost its secret when the server's secret key was reset. */
export function isSecretCleared({ secret }: StoredSecrets): boolean {
	return secret === CLEARED;
}

/** The HMAC key of a secret, as in Standard Webhooks. */
export function hmacKeyOf(secret: string): Buffer {
	return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/**
 * Validates a secret that a client has chosen: `whsec_` and the standard Base64 (RFC 4648, 4) of 24 to 64 bytes.
 * @throws AppError `invalid_request`, which does not repeat it
 */
export function requireSigningSecret(secret: string): void {
	const key = hmacKeyOf(secret);
	// The decoder ignores foreign characters, so the text is compared with the standard encoding of the key.
	const isStandard = secret === PREFIX + key.toString('base64');
	if (isStandard && key.length >= SIGNING_SECRET_BYTES.min && key.length <= SIGNING_SECRET_BYTES.max) return;
	const message = `must be ${PREFIX} and the standard Base64 of ${SIGNING_SECRET_BYTES.min} to ${SIGNING_SECRET_BYTES.max} bytes`;
	throw new AppError('invalid_request', `/secret ${message}.`, { details: [{ path: '/secret', message }] });
}

/** The secrets of webhook endpoints: the newest one, and former ones for a day. */
export class SigningSecrets {
	readonly #box: SecretBox;

	constructor(box: SecretBox) {
		this.#box = box;
	}

	/** An endpoint's first secret. */
	initial(secret: string): StoredSecrets {
		return { secret: this.#seal(secret), former_secrets: [] };
	}

	/**
	 * The secrets after a rotation. A receiver may still use any former secret, and each keeps its own end. The current secret
	 * again changes nothing.
	 */
	rotate(stored: StoredSecrets, secret: string, now: number): Partial<StoredSecrets> {
		if (isSecretCleared(stored)) return this.initial(secret);
		if (this.#open(stored.secret) === secret) return {};
		const before = this.#former(stored, now).filter((former) => this.#open(former.secret) !== secret);
		const former_secrets = [{ secret: stored.secret, until: now + FORMER_SECRET_TTL_MS }, ...before].slice(
			0,
			MAX_FORMER_SECRETS,
		);
		return { secret: this.#seal(secret), former_secrets };
	}

	/** The secrets that sign now, the newest first. */
	activeSecrets(stored: StoredSecrets, now: number): [string, ...string[]] {
		return [this.#open(stored.secret), ...this.#former(stored, now).map(({ secret }) => this.#open(secret))];
	}

	/** Whether every secret that signs now can be opened. A forgotten secret needs no opening. */
	canOpen(stored: StoredSecrets, now: number): boolean {
		if (isSecretCleared(stored)) return true;
		try {
			this.activeSecrets(stored, now);
			return true;
		} catch {
			return false;
		}
	}

	#former({ former_secrets }: StoredSecrets, now: number): StoredSecrets['former_secrets'] {
		return former_secrets.filter(({ until }) => until > now);
	}

	#seal(secret: string): string {
		return this.#box.seal(secret, SEAL_PURPOSE);
	}

	#open(sealed: string): string {
		return this.#box.open(sealed, SEAL_PURPOSE);
	}
}
