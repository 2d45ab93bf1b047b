import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { AppError, SecretBox } from '../../src/base/index.ts';
import { newSigningSecret, requireSigningSecret, SigningSecrets } from '../../src/webhooks/index.ts';

const DAY = 24 * 3_600_000;
const secrets = new SigningSecrets(new SecretBox(randomBytes(32)));
const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 0xfb).toString('base64')}`;

test('a new secret is 32 random bytes in the form of Standard Webhooks', () => {
	const [one, two] = [newSigningSecret(), newSigningSecret()];
	assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/);
	assert.notEqual(one, two);
	requireSigningSecret(one);
});

test('accepts a chosen secret of 24 to 64 bytes in standard Base64, and does not repeat a wrong one', () => {
	for (const count of [24, 25, 26, 32, 64]) requireSigningSecret(ofBytes(count));
	const wrong = [
		'',
		'whsec_',
		ofBytes(23),
		ofBytes(65),
		ofBytes(32).slice('whsec_'.length),
		ofBytes(32).replace('whsec_', 'WHSEC_'),
		ofBytes(32).replace('=', ''),
		`${ofBytes(33)}=`,
		ofBytes(32).replaceAll('+', '-').replaceAll('/', '_'),
		`${ofBytes(24)} `,
		ofBytes(24).replace('whsec_', 'whsec_ '),
		// Its last character has bits that no byte holds.
		`${ofBytes(25).slice(0, -3)}x==`,
	];
	for (const secret of wrong) {
		assert.throws(
			() => requireSigningSecret(secret),
			(thrown) => {
				assert.ok(thrown instanceof AppError, secret);
				assert.deepEqual([thrown.code, thrown.details?.[0]?.path], ['invalid_request', '/secret'], secret);
				assert.ok(secret.length < 10 || !thrown.message.includes(secret));
				return true;
			},
		);
	}
});

test('each former secret signs beside the newest one for a day, also the first of three', () => {
	const [first, second, third] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
	let stored = secrets.initial(first);
	assert.deepEqual(secrets.activeSecrets(stored, 0), [first]);
	stored = { ...stored, ...secrets.rotate(stored, second, 1000) };
	assert.deepEqual(secrets.activeSecrets(stored, 1000), [second, first]);
	assert.deepEqual(secrets.activeSecrets(stored, 1000 + DAY - 1), [second, first]);
	assert.deepEqual(secrets.activeSecrets(stored, 1000 + DAY), [second]);
	stored = { ...stored, ...secrets.rotate(stored, third, 2000) };
	assert.deepEqual(secrets.activeSecrets(stored, 2000), [third, second, first]);
	assert.deepEqual(secrets.activeSecrets(stored, 1000 + DAY), [third, second], 'each one has a day of its own');
	assert.deepEqual(secrets.activeSecrets(stored, 2000 + DAY), [third]);
	stored = { ...stored, ...secrets.rotate(stored, first, 2000 + DAY) };
	assert.equal(stored.former_secrets.length, 1, 'those that are over are not kept');
	assert.doesNotMatch(JSON.stringify(stored), /whsec_/);
});

test('setting the current secret again removes no former secret', () => {
	const [first, second] = [newSigningSecret(), newSigningSecret()];
	let stored = secrets.initial(first);
	stored = { ...stored, ...secrets.rotate(stored, second, 1000) };
	assert.deepEqual(secrets.rotate(stored, second, 2000), {});
	const back = { ...stored, ...secrets.rotate(stored, first, 3000) };
	assert.deepEqual(secrets.activeSecrets(back, 3000), [first, second], 'going back is a change like any other');
	assert.deepEqual(
		secrets.activeSecrets(back, 3000 + DAY),
		[first],
		'the newest one is not over with the time that it once had',
	);
});

test('the newest ten former secrets sign after many changes in a day', () => {
	const given = Array.from({ length: 14 }, newSigningSecret);
	let stored = secrets.initial(given[0] as string);
	for (const [at, secret] of given.entries()) stored = { ...stored, ...secrets.rotate(stored, secret, at) };
	assert.deepEqual(secrets.activeSecrets(stored, 20), given.slice(3).reverse());
});
