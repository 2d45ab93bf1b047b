import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeaderBlock } from '../../src/http/index.ts';
import { packHeaders } from '../../src/http/response-head.ts';
import { start } from './harness.ts';

test('packs the first value, the block and the other headers in this order, one per line', () => {
	const headerBlock = new HeaderBlock([['vary', 'Origin']]);
	const headers = [
		['etag', '"1"'],
		['set-cookie', 'a=b'],
	] as const;
	assert.equal(packHeaders('req_1', { headerBlock, headers }), 'req_1\r\nvary: Origin\r\netag: "1"\r\nset-cookie: a=b');
	assert.equal(packHeaders('req_1', {}), 'req_1');
});

test('packs each header into exactly one line, for any names and values', () => {
	const text = fc.string({ unit: fc.constantFrom('a', 'B', '-', ':', ' ', '\r', '\n', '\0', 'é') });
	fc.assert(
		fc.property(fc.array(fc.tuple(text, text)), (headers) => {
			const lines = packHeaders('req_1', { headers }).split('\r\n');
			assert.equal(lines.length, headers.length + 1);
			for (const line of lines) assert.doesNotMatch(line, /[\r\n\0]/);
		}),
	);
});

test('a client receives packed headers as separate headers', async (t) => {
	const headerBlock = new HeaderBlock([
		['cache-control', 'public, max-age=60'],
		['vary', 'Origin'],
	]);
	const headers = [
		['etag', '"1"'],
		['access-control-allow-origin', 'https://shop.example'],
	] as const;
	const { url } = await start(t, [
		{ method: 'GET', path: '/packed', handle: () => ({ status: 200, headerBlock, headers, body: 'x' }) },
	]);
	const raw = await new Promise<string[]>((resolve, reject) => {
		http
			.get(`${url}/packed`, { agent: false }, (response) => resolve(response.resume().rawHeaders))
			.on('error', reject);
	});
	const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]]] : []));
	assert.match(String(pairs.find(([name]) => name === 'x-request-id')?.[1]), /^req_[0-9a-z]{32}$/);
	for (const expected of [['cache-control', 'public, max-age=60'], ['vary', 'Origin'], ...headers]) {
		assert.equal(pairs.filter(([name, value]) => name === expected[0] && value === expected[1]).length, 1);
	}
});
