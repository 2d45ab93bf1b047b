import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUrl } from '../../src/base/index.ts';

test('gives the URL, or null for a text that is none', () => {
	assert.equal(parseUrl('https://shop.example/a')?.pathname, '/a');
	for (const text of ['', '/a', 'shop.example', 'https://', 'https://a b/']) assert.equal(parseUrl(text), null, text);
});

test('parses letters of Latin-1 also after V8 has optimized the call', () => {
	for (let at = 0; at < 50_000; at++)
		assert.equal(parseUrl('https://bücher.example/')?.hostname, 'xn--bcher-kva.example');
});
