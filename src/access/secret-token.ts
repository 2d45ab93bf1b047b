import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** A new secret for one user, in a link or a cookie: 256 random bits in base64url. */
export function createToken(): string {
	return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text has the form of such a secret, without a read of the store. */
export function isTokenShaped(text: string): boolean {
	return TOKEN_PATTERN.test(text);
}

/** The stored form of a token: its SHA-256 in hexadecimal. It has 256 random bits, so a slow hash is not needed. */
export function hashToken(token: string): string {
	return createHash('sha256').update(token).digest('hex');
}
