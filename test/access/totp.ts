import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { CookieClient } from './people.ts';
import { PASSWORD } from './people.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of a secret in base32 at a time (RFC 6238 with RFC 4226, section 5.3), made without the server's library. */
export function totpCode(secret: string, now: number): string {
	const bits = [...secret].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0')).join('');
	const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
	const counter = Buffer.alloc(8);
	counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
	const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
	const number = mac.readUInt32BE((mac.at(-1) as number) & 15) & 0x7fffffff;
	return String(number % 1_000_000).padStart(6, '0');
}

/** Makes the secret of the browser's user. */
export async function beginTotp(browser: CookieClient, current_password = PASSWORD): Promise<string> {
	const begun = await browser.call('POST', '/api/v1/session/totp', { current_password });
	assert.equal(begun.status, 200, JSON.stringify(begun.body));
	return begun.body.secret;
}

/** Sets up a second factor for the browser's user. @param now the server's time */
export async function setUpTotp(
	browser: CookieClient,
	now = Date.now(),
): Promise<{ secret: string; recoveryCodes: string[] }> {
	const secret = await beginTotp(browser);
	const confirmed = await browser.call('POST', '/api/v1/session/totp/confirm', { code: totpCode(secret, now) });
	assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
	return { secret, recoveryCodes: confirmed.body.recovery_codes };
}

/** Sends a right password, and returns the cookie header of the second step. */
export async function firstStep(browser: CookieClient, email: string, password = PASSWORD): Promise<string> {
	const answer = await browser.call('POST', '/api/v1/session', { email, password });
	assert.deepEqual([answer.status, answer.body.error?.code], [401, 'second_factor_required']);
	const [cookie] = answer.headers.getSetCookie();
	assert.match(
		cookie ?? '',
		/^parley_sign_in=v1\.[\w-]+; Path=\/api\/v1\/session; HttpOnly; SameSite=Lax; Max-Age=300/,
	);
	return cookie?.split(';')[0] as string;
}
