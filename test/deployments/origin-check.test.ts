import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkOrigin, createAllowlist } from '../../src/deployments/index.ts';

/** What a check says besides the origin. */
const verdict = (entries: string[], url: string) => {
	const { allowed, entry, reason, near_misses } = checkOrigin(entries, url);
	return allowed ? entry : near_misses.map((miss) => `${miss.reason}: ${miss.entry}`).join(', ') || reason;
};

test('names the first entry that lets a page in, whatever its path', () => {
	const entries = ['other.example', '*.shop.example', 'www.shop.example'];
	assert.deepEqual(checkOrigin(entries, 'https://www.shop.example/kettles?red#top'), {
		allowed: true,
		origin: 'https://www.shop.example',
		entry: '*.shop.example',
		reason: null,
		near_misses: [],
	});
	assert.equal(verdict(['*'], 'http://anything.example'), '*');
});

test('says why no entry lets a page in, and which entries are close', () => {
	const url = 'https://shop.example/kettles';
	assert.equal(verdict([], url), 'empty_list');
	assert.equal(verdict(['other.example'], url), 'no_entry_matches');
	assert.equal(verdict(['*.shop.example'], url), 'apex: *.shop.example');
	assert.equal(verdict(['shop.example'], 'https://www.shop.example'), 'subdomain: shop.example');
	assert.equal(verdict(['https://shop.example'], 'http://shop.example'), 'scheme: https://shop.example');
	assert.equal(
		verdict(['shop.example', 'shop.example:80'], 'http://shop.example:8080'),
		'port: shop.example, port: shop.example:80',
	);
	assert.equal(verdict(['*'], 'https://shop.example./'), 'trailing_dot');
	assert.equal(verdict(['*'], 'file:///home/index.html'), 'not_a_website');
	assert.equal(verdict(['*'], 'shop.example'), 'invalid_url');
});

test('rejects a malformed entry with its place in the list', () => {
	assert.throws(() => checkOrigin(['shop.example', 'shop.example/path'], 'https://shop.example'), {
		code: 'invalid_request',
		message: /is not a domain/,
	});
});

test('decides for every origin as the allowlist of visitors does', () => {
	const host = fc.constantFrom('shop.example', 'www.shop.example', 'a.www.shop.example', 'myshop.example', 'localhost');
	const port = fc.constantFrom('', ':80', ':443', ':8080');
	const scheme = fc.constantFrom('http://', 'https://');
	const entry = fc.oneof(
		fc.constant('*'),
		fc
			.tuple(
				fc.constantFrom('', 'http://', 'https://'),
				fc.constantFrom('', '*.'),
				host,
				fc.constantFrom('', ':*', ':8080', ':443'),
			)
			.map((parts) => parts.join('')),
	);
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 4 }), fc.tuple(scheme, host, port), (entries, parts) => {
			const { origin } = new URL(parts.join(''));
			const check = checkOrigin(entries, origin);
			assert.equal(check.allowed, createAllowlist(entries).allows(origin));
			assert.equal(check.reason === null, check.allowed);
		}),
	);
});
