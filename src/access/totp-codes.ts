import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Steps before and after the present one whose codes are accepted: the clocks of phones differ. */
const WINDOW = 1;
/** 160 bits, as RFC 4226, section 4 recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;
/** Base32 (RFC 4648), in lower case. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const GROUP = /.{4}(?!$)/g;

/** A new secret of an authenticator app, in base32. */
export function createTotpSecret(): string {
	return new Secret({ size: SECRET_BYTES }).base32;
}

/** The `otpauth:` URI of a secret, which apps read as a QR code. */
export function totpUri(secret: string, label: string): string {
	return totpOf(secret, label).toString();
}

/** The time step whose code this is (RFC 6238); null for a wrong code. @param now milliseconds since the epoch */
export function totpStep(secret: string, code: string, now: number): number | null {
	const token = code.replaceAll(' ', '');
	if (!/^\d{6}$/.test(token)) return null;
	const delta = totpOf(secret).validate({ token, timestamp: now, window: WINDOW });
	return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

/** New recovery codes, for example `k3vd-9x2m-pq7w-c4tz`: 80 random bits each. */
export function createRecoveryCodes(): string[] {
	return Array.from({ length: RECOVERY_CODES }, () => {
		const bits = [...randomBytes(RECOVERY_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
		const letters = (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]);
		return letters.join('').replace(GROUP, '$&-');
	});
}

/** The stored form of a recovery code: only the server's key can tell whether a code belongs to it. */
export function hashRecoveryCode(code: string, key: Buffer): string {
	const plain = code.toLowerCase().replace(/[\s-]/g, '');
	return createHmac('sha256', key).update(plain).digest('hex');
}

/** Whether two hashes in hexadecimal are equal, in constant time. */
export function isSameHash(one: string, other: string): boolean {
	return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function totpOf(secret: string, label = ''): TOTP {
	return new TOTP({
		issuer: 'Parley',
		label,
		algorithm: 'SHA1',
		digits: 6,
		period: PERIOD_SECONDS,
		secret: Secret.fromBase32(secret),
	});
}
