import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTotpSecret, totpStep, totpUri } from '../../src/access/totp-codes.ts';
import { totpCode } from './totp.ts';

/** "12345678901234567890" in base32: the secret of the test values for SHA-1. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test('codes are those of RFC 6238, appendix B', () => {
	for (const [seconds, code] of [
		[59, '287082'],
		[1_111_111_109, '081804'],
		[1_111_111_111, '050471'],
		[1_234_567_890, '005924'],
		[2_000_000_000, '279037'],
		[20_000_000_000, '353130'],
	] as const) {
		assert.equal(totpCode(SECRET, seconds * 1_000), code);
		assert.equal(totpStep(SECRET, code, seconds * 1_000), Math.floor(seconds / 30));
	}
});

test('accepts the codes of one step before and after, and says of which step a code is', () => {
	const now = 1_790_000_000_000;
	const step = Math.floor(now / 30_000);
	for (const offset of [-2, -1, 0, 1, 2]) {
		const found = totpStep(SECRET, totpCode(SECRET, now + offset * 30_000), now);
		assert.equal(found, Math.abs(offset) > 1 ? null : step + offset, String(offset));
	}
	for (const code of ['', '12345', '1234567', 'abcdef', '-12345', '1e5000', '１２３４５６']) {
		assert.equal(totpStep(SECRET, code, now), null, code);
	}
});

test('a URI names the issuer, the account and the secret, as apps read it', () => {
	const secret = createTotpSecret();
	assert.notEqual(secret, createTotpSecret());
	const uri = new URL(totpUri(secret, 'ada@example.com'));
	assert.deepEqual(
		[
			uri.protocol,
			uri.host,
			decodeURIComponent(uri.pathname),
			uri.searchParams.get('secret'),
			uri.searchParams.get('issuer'),
		],
		['otpauth:', 'totp', '/Parley:ada@example.com', secret, 'Parley'],
	);
});
