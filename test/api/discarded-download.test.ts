import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respondDuringUse } from '../../src/api/revocable-response.ts';
import type { RevocableUse } from '../../src/base/index.ts';
import type { HttpRequest } from '../../src/http/index.ts';

test('a download that is discarded before its first chunk frees its place', async () => {
	let ends = 0;
	const use = { end: () => ends++ } as unknown as RevocableUse;
	async function* chunks() {
		yield 'a line';
	}
	const response = await respondDuringUse(use, {} as HttpRequest, async () => ({ headers: [], chunks: chunks() }));
	assert.ok('chunks' in response);
	assert.equal(ends, 0);
	await response.chunks[Symbol.asyncIterator]().return?.();
	assert.ok(ends > 0);
});
