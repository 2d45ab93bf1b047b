import { randomBytes } from 'node:crypto';
import { AppError, type SecretBox } from '../base/index.ts';
import type { WebhookRecord } from '../store/index.ts';

/** The secrets of an endpoint as they are stored, each sealed. */
type StoredSecrets = Pick<WebhookRecord, 'secret' | 'former_secret' | 'former_secret_until'>;

const PREFIX = 'whsec_';
const NEW_BYTES = 32;
/** What Standard Webhooks allows. */
const BYTES = { least: 24, most: 64 } as const;
/** How long a secret signs beside the one that has replaced it. */
const FORMER_MS = 24 * 3_600_000;
const SEALED_FOR = 'webhook secrets';

/** A new secret: `whsec_` and the Base64 of 32 random bytes. */
export function newSigningSecret(): string {
	return PREFIX + randomBytes(NEW_BYTES).toString('base64');
}

/** The key that a secret stands for in Standard Webhooks. */
export function keyOf(secret: string): Buffer {
	return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/**
 * Judges a secret that a client has chosen: `whsec_` and the standard Base64 (RFC 4648, 4) of 24 to 64 bytes.
 * @throws AppError `invalid_request`, which does not repeat it
 */
export function requireSigningSecret(secret: string): void {
	const key = keyOf(secret);
	// The decoder passes over foreign characters: only the text that we would write ourselves is standard.
	const isStandard = secret === PREFIX + key.toString('base64');
	if (isStandard && key.length >= BYTES.least && key.length <= BYTES.most) return;
	const message = `must be ${PREFIX} and the standard Base64 of ${BYTES.least} to ${BYTES.most} bytes`;
	throw new AppError('invalid_request', `/secret ${message}.`, { details: [{ path: '/secret', message }] });
}

/** The secrets of webhook endpoints: the newest one, and for a while the one before. */
export class SigningSecrets {
	readonly #box: SecretBox;

	constructor(box: SecretBox) {
		this.#box = box;
	}

	/** An endpoint's first secret. */
	first(secret: string): StoredSecrets {
		return { secret: this.#seal(secret), former_secret: null, former_secret_until: null };
	}

	/** The secrets after another one has come. The same one again changes nothing: the one before must not be lost by it. */
	replaced(stored: StoredSecrets, secret: string, now: number): Partial<StoredSecrets> {
		if (this.#open(stored.secret) === secret) return {};
		return { secret: this.#seal(secret), former_secret: stored.secret, former_secret_until: now + FORMER_MS };
	}

	/** The secrets that sign now, the newest first. */
	valid({ secret, former_secret, former_secret_until }: StoredSecrets, now: number): [string, ...string[]] {
		const newest = this.#open(secret);
		if (former_secret === null || former_secret_until === null || former_secret_until <= now) return [newest];
		return [newest, this.#open(former_secret)];
	}

	#seal(secret: string): string {
		return this.#box.seal(secret, SEALED_FOR);
	}

	#open(sealed: string): string {
		return this.#box.open(sealed, SEALED_FOR);
	}
}
