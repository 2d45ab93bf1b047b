import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createApiKey, displayPrefixOf, hashApiKey, isApiKey } from '../../src/access/api-keys.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const sample = Array.from({ length: 10 }, createApiKey);

test('a new key has the published form, is valid and unique', () => {
	for (const key of sample) {
		assert.match(key, /^sk_[0-9A-Za-z]{49}$/);
		assert.ok(isApiKey(key));
	}
	assert.equal(new Set(Array.from({ length: 2_000 }, createApiKey)).size, 2_000);
});

test('every character is equally likely in a key', () => {
	const counts = new Map<string, number>();
	const keys = 5_000;
	for (let made = 0; made < keys; made++) {
		for (const character of createApiKey().slice(3, 46)) counts.set(character, (counts.get(character) ?? 0) + 1);
	}
	const expected = (keys * 43) / ALPHABET.length;
	for (const character of ALPHABET) {
		const share = (counts.get(character) ?? 0) / expected;
		assert.ok(share > 0.85 && share < 1.15, `${character} comes ${share.toFixed(2)} times as often as it should`);
	}
});

test('a key of an earlier version stays valid: its end is the CRC-32 of its middle in base 62', () => {
	assert.ok(isApiKey('sk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg37cCQ0'));
	assert.ok(isApiKey('sk_00000000000000000000000000000000000000000002CZclj'));
});

test('detects every single wrong character', () => {
	for (const key of sample) {
		for (let at = 3; at < key.length; at++) {
			for (const wrong of ALPHABET) {
				if (wrong === key[at]) continue;
				assert.equal(isApiKey(key.slice(0, at) + wrong + key.slice(at + 1)), false, `${key} at ${at}: ${wrong}`);
			}
		}
	}
});

test('detects two swapped neighbours', () => {
	for (const key of sample) {
		for (let at = 3; at + 1 < key.length; at++) {
			const [left, right] = [key[at] as string, key[at + 1] as string];
			if (left === right) continue;
			assert.equal(isApiKey(key.slice(0, at) + right + left + key.slice(at + 2)), false, `${key} at ${at}`);
		}
	}
});

test('a shortened, lengthened or altered key is not a key', () => {
	for (const key of sample) {
		const wrong = [
			'',
			'sk_',
			key.slice(3),
			key.slice(0, -1),
			`${key}0`,
			`${key}\n`,
			` ${key}`,
			`${key} `,
			key.replace('sk_', 'SK_'),
			key.replace('sk_', 'sk-'),
			key.replace('sk_', 'pk_'),
			key.toUpperCase(),
			key.toLowerCase(),
			`sk_${'a'.repeat(100_000)}`,
		];
		for (const text of wrong) assert.equal(isApiKey(text), false, text.slice(0, 60));
	}
});

test('stores the SHA-256 of a key and shows its first eight characters', () => {
	const [key = ''] = sample;
	assert.equal(hashApiKey(key), createHash('sha256').update(key, 'utf8').digest('hex'));
	assert.equal(displayPrefixOf(key), key.slice(0, 8));
});
