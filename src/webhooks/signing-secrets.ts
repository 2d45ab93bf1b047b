import { randomBytes } from 'node:crypto';
import { AppError, type SecretBox } from '../base/index.ts';
import type { WebhookRecord } from '../store/index.ts';

/** The secrets of an endpoint as they are stored, each sealed. */
type StoredSecrets = Pick<WebhookRecord, 'secret' | 'former_secrets'>;

const PREFIX = 'whsec_';
const NEW_BYTES = 32;
/** What Standard Webhooks allows. */
const BYTES = { least: 24, most: 64 } as const;
/** How long a secret signs beside the one that has replaced it. */
const FORMER_MS = 24 * 3_600_000;
/** Former secrets that sign at most: each is another value in a header. */
const MOST_FORMER = 10;
const SEALED_FOR = 'webhook secrets';
/** Stands for a secret that was forgotten: no sealed text is empty. */
const FORGOTTEN = '';

/** A new secret: `whsec_` and the Base64 of 32 random bytes. */
export function newSigningSecret(): string {
	return PREFIX + randomBytes(NEW_BYTES).toString('base64');
}

/** The secrets of an endpoint whose secret no key opens any more: it can be enabled when it has another one. */
export function forgottenSecrets(): StoredSecrets {
	return { secret: FORGOTTEN, former_secrets: [] };
}

/** Whether an endpoint has no secret since the server's secret key was reset. */
export function isSecretForgotten({ secret }: StoredSecrets): boolean {
	return secret === FORGOTTEN;
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

/** The secrets of webhook endpoints: the newest one, and each of those before for a while. */
export class SigningSecrets {
	readonly #box: SecretBox;

	constructor(box: SecretBox) {
		this.#box = box;
	}

	/** An endpoint's first secret. */
	first(secret: string): StoredSecrets {
		return { secret: this.#seal(secret), former_secrets: [] };
	}

	/**
	 * The secrets after another one has come. A receiver may have any of those before, and each keeps its time. The same one
	 * again changes nothing. While the clock is in doubt, those that are over by it are kept: they may still have their time.
	 */
	replaced(stored: StoredSecrets, secret: string, now: number, isInDoubt = false): Partial<StoredSecrets> {
		if (isSecretForgotten(stored)) return this.first(secret);
		if (this.#open(stored.secret) === secret) return {};
		const kept = isInDoubt ? stored.former_secrets : this.#former(stored, now);
		const before = kept.filter((former) => this.#open(former.secret) !== secret);
		const former_secrets = [{ secret: stored.secret, until: now + FORMER_MS }, ...before].slice(0, MOST_FORMER);
		return { secret: this.#seal(secret), former_secrets };
	}

	/** The secrets that sign now, the newest first. */
	valid(stored: StoredSecrets, now: number): [string, ...string[]] {
		return [this.#open(stored.secret), ...this.#former(stored, now).map(({ secret }) => this.#open(secret))];
	}

	/** Whether every secret that signs now, and is not forgotten, can be opened. */
	opens(stored: StoredSecrets, now: number): boolean {
		if (isSecretForgotten(stored)) return true;
		try {
			this.valid(stored, now);
			return true;
		} catch {
			return false;
		}
	}

	#former({ former_secrets }: StoredSecrets, now: number): StoredSecrets['former_secrets'] {
		return former_secrets.filter(({ until }) => until > now);
	}

	#seal(secret: string): string {
		return this.#box.seal(secret, SEALED_FOR);
	}

	#open(sealed: string): string {
		return this.#box.open(sealed, SEALED_FOR);
	}
}
