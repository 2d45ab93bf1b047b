import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals secrets that must be stored and used again (AES-256-GCM, NIST SP 800-38D). Each purpose has its own key, derived from
 * the server's key (HKDF-SHA-256, RFC 5869): a text sealed for one purpose cannot be opened for another.
 */
export class SecretBox {
	readonly #master: Buffer;
	readonly #keys = new Map<string, Buffer>();

	/** @param master 32 random bytes */
	constructor(master: Buffer) {
		this.#master = master;
	}

	/** Encrypts a text so that only this server can open it. Sealing the same text twice gives two different results. */
	seal(text: string, purpose: string): string {
		const iv = randomBytes(IV_BYTES);
		const cipher = createCipheriv('aes-256-gcm', this.key(purpose), iv);
		const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
		return VERSION + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
	}

	/** @throws Error when the text was sealed with another key, for another purpose, or was altered */
	open(sealed: string, purpose: string): string {
		try {
			if (!sealed.startsWith(VERSION)) throw new Error('unknown form');
			const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
			const decipher = createDecipheriv('aes-256-gcm', this.key(purpose), bytes.subarray(0, IV_BYTES), {
				authTagLength: TAG_BYTES,
			});
			decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
			return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
		} catch (cause) {
			throw new Error(`A stored secret cannot be opened: was PARLEY_SECRET_KEY or secret.key changed? (${purpose})`, {
				cause,
			});
		}
	}

	/** A key of 32 bytes for one purpose. */
	key(purpose: string): Buffer {
		let key = this.#keys.get(purpose);
		if (!key) {
			key = Buffer.from(hkdfSync('sha256', this.#master, '', `parley ${purpose}`, 32));
			this.#keys.set(purpose, key);
		}
		return key;
	}
}
