import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoldJob, ParsedChunk } from '../../src/contract/index.ts';
import { foldChunks } from '../../src/knowledge/ingest/fold-chunks.ts';

/** A pool whose vectors identify the chunk: two values for each. Every fourth term of a chunk is unknown. */
function poolOf(asked: number[]) {
	return {
		async fold({ chunks }: FoldJob) {
			asked.push(chunks.length);
			const vectors = Int8Array.from(chunks.flatMap(({ body_terms }) => [Number(body_terms) % 100, 1]));
			return { vectors, dimensions: 2, terms: 4 * chunks.length, unknown_terms: chunks.length };
		},
	};
}

const chunksOf = (count: number): ParsedChunk[] =>
	Array.from({ length: count }, (_, at) => ({
		text: 'A text.',
		heading_path: [],
		page: null,
		title_terms: '',
		body_terms: String(at),
	}));

test('embeds a large document in portions and returns the vectors in order', async () => {
	const asked: number[] = [];
	const signal = new AbortController().signal;
	const { vectors, unknownShare } = await foldChunks(poolOf(asked), 'a.db', 'basis', chunksOf(1234), signal);
	assert.ok(asked.length > 1 && Math.max(...asked) <= 500, asked.join());
	assert.deepEqual(
		[...vectors.filter((_, at) => at % 2 === 0)],
		Array.from({ length: 1234 }, (_, at) => at % 100),
	);
	assert.equal(vectors.length, 2468);
	assert.equal(unknownShare, 0.25);
});

test('a document without chunks has no vectors and no unknown terms', async () => {
	const signal = new AbortController().signal;
	const { vectors, unknownShare } = await foldChunks(poolOf([]), 'a.db', 'basis', [], signal);
	assert.deepEqual([vectors.length, unknownShare], [0, 0]);
});
