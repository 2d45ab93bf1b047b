import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { countTermsOfChunks } from '../../src/retrieval/training/term-counts.ts';

/** A map of its terms for each chunk takes more than 200 MB. */
const HEAP_MB = 100;

test('stores the terms of each chunk consecutively, each with its count', () => {
	const counted = countTermsOfChunks(
		[
			{ title_terms: 'blue', body_terms: 'kettle blue' },
			{ title_terms: '', body_terms: '' },
			{ title_terms: '', body_terms: 'lamp kettle lamp' },
		],
		1,
	);
	assert.deepEqual(counted.terms, ['blue', 'kettle', 'lamp']);
	assert.deepEqual([...counted.starts], [0, 2, 2, 4]);
	assert.deepEqual([...counted.termIndexes], [0, 1, 2, 1]);
	assert.deepEqual([...counted.counts], [3, 1, 2, 1]);
});

test('the terms of 20,000 chunks are counted in a small heap', async () => {
	const program = fileURLToPath(new URL('./count-terms.ts', import.meta.url));
	const args = [`--max-old-space-size=${HEAP_MB}`, '--import', 'tsx', program];
	const { stdout } = await promisify(execFile)(process.execPath, args);
	assert.deepEqual(JSON.parse(stdout), { chunks: 20_000, entries: 6_000_000, terms: 300 });
});
