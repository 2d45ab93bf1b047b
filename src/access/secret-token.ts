import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** A new secret that is handed to one person, in a link or a cookie: 256 random bits in base64url. */
export function createToken(): string {
	return randomBytes(BYTES).toString('base64url');
}

/** Whether a text may be such a secret, told without a look-up. */
export function isToken(text: string): boolean {
	return FORM.test(text);
}

/** What is stored of it: its SHA-256, hexadecimal. It has 256 random bits, so no slow hash is needed. */
export function hashToken(token: string): string {
	return createHash('sha256').update(token).digest('hex');
}
