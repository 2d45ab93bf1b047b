import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** A new secret that is handed to one person, in a link or a cookie: 256 random bits in base64url. */
export function createToken(): string {
	return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text may be such a secret, told without a look-up. */
export function isTokenShaped(text: string): boolean {
	return TOKEN_PATTERN.test(text);
}

/** What is stored of it: its SHA-256, hexadecimal. It has 256 random bits, so no slow hash is needed. */
export function hashToken(token: string): string {
	return createHash('sha256').update(token).digest('hex');
}
