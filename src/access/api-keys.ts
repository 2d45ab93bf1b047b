import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARS = 43;
const CHECK_CHARS = 6;
const API_KEY_PATTERN = /^sk_[0-9A-Za-z]{49}$/;

/** A new API key: `sk_`, 43 random base-62 characters (256 bits), 6 characters of checksum. */
export function createApiKey(): string {
	let secret = '';
	while (secret.length < SECRET_CHARS) {
		// 248 is the largest multiple of 62 in a byte: bytes above it would favour the first characters.
		for (const byte of randomBytes(64)) {
			if (byte < 248 && secret.length < SECRET_CHARS) secret += ALPHABET[byte % 62];
		}
	}
	return `sk_${secret}${checksum(secret)}`;
}

/** Whether a string is an API key by its form and checksum. It tells typing errors from revoked keys without a read of the store. */
export function isApiKey(text: string): boolean {
	return API_KEY_PATTERN.test(text) && checksum(text.slice(3, 3 + SECRET_CHARS)) === text.slice(3 + SECRET_CHARS);
}

/** The stored form of a key: its SHA-256 in hexadecimal. A key has 256 random bits, so a slow hash is not needed. */
export function hashApiKey(key: string): string {
	return createHash('sha256').update(key).digest('hex');
}

/** The start of a key, which lists show. */
export function displayPrefixOf(key: string): string {
	return key.slice(0, 8);
}

/** CRC-32 of the secret part in base 62. */
function checksum(secret: string): string {
	let value = crc32(secret);
	let text = '';
	for (let index = 0; index < CHECK_CHARS; index++) {
		text = ALPHABET[value % 62] + text;
		value = Math.floor(value / 62);
	}
	return text;
}
