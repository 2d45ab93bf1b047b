import { randomBytes } from 'node:crypto';
import { AppError, type SecretBox } from '../base/index.ts';
import type { WebhookRecord } from '../store/index.ts';

/** The secrets of an endpoint as they are stored, each sealed. */
type StoredSecrets = Pick<WebhookRecord, 'secret' | 'former_secrets'>;

const PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 32;
/** What Standard Webhooks allows. */
const SIGNING_SECRET_BYTES = { min: 24, max: 64 } as const;
/** How long a secret signs beside the one that has replaced it. */
const FORMER_SECRET_TTL_MS = 24 * 3_600_000;
/** Former secrets that sign at most: each is another value in a header. */
const MAX_FORMER_SECRETS = 10;
const SEAL_PURPOSE = 'webhook secrets';
/** Stands for a secret that was forgotten: no sealed text is empty. */
const CLEARED = '';

/** A new secret: `whsec_` and the Base64 of 32 random bytes. */
export function newSigningSecret(): string {
	return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

/** The secrets of an endpoint whose secret no key opens any more: it can be enabled when it has another one. */
export function clearedSecrets(): StoredSecrets {
	return { secret: CLEARED, former_secrets: [] };
}

/** Whether an endpoint has no secret since the server's secret key was reset. */
export function isSecretCleared({ secret }: StoredSecrets): boolean {
	return secret === CLEARED;
}

/** The key that a secret stands for in Standard Webhooks. */
export function hmacKeyOf(secret: string): Buffer {
	return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/**
 * Judges a secret that a client has chosen: `whsec_` and the standard Base64 (RFC 4648, 4) of 24 to 64 bytes.
 * @throws AppError `invalid_request`, which does not repeat it
 */
export function requireSigningSecret(secret: string): void {
	const key = hmacKeyOf(secret);
	// The decoder passes over foreign characters: only the text that we would write ourselves is standard.
	const isStandard = secret === PREFIX + key.toString('base64');
	if (isStandard && key.length >= SIGNING_SECRET_BYTES.min && key.length <= SIGNING_SECRET_BYTES.max) return;
	const message = `must be ${PREFIX} and the standard Base64 of ${SIGNING_SECRET_BYTES.min} to ${SIGNING_SECRET_BYTES.max} bytes`;
	throw new AppError('invalid_request', `/secret ${message}.`, { details: [{ path: '/secret', message }] });
}

/** The secrets of webhook endpoints: the newest one, and each of those before for a while. */
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
	 * The secrets after another one has come. A receiver may have any of those before, and each keeps its time. The same one
	 * again changes nothing. While the clock is in doubt, those that are over by it are kept: they may still have their time.
	 */
	rotate(stored: StoredSecrets, secret: string, now: number, isTimeSuspect = false): Partial<StoredSecrets> {
		if (isSecretCleared(stored)) return this.initial(secret);
		if (this.#open(stored.secret) === secret) return {};
		const kept = isTimeSuspect ? stored.former_secrets : this.#former(stored, now);
		const before = kept.filter((former) => this.#open(former.secret) !== secret);
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

	/** Whether every secret that signs now, and is not forgotten, can be opened. */
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
