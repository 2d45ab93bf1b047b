import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParsedChunk } from '../../src/contract/index.ts';
import { countChangedChunks, countChunksChangedByCopy } from '../../src/knowledge/ingest/changed-chunks.ts';
import type { Store } from '../../src/store/index.ts';

/** A store with the chunks of documents, by their ids. */
function storeOf(stored: Record<string, string[]>): Store {
	const servingChunks: Store['searchIndex']['servingChunks'] = async (_base, document_id, after, limit) =>
		(stored[document_id] ?? [])
			.map((text, position) => ({ id: position, document_id, position, text, heading_path: ['Tea'], page: null }))
			.filter(({ position }) => position > after)
			.slice(0, limit);
	return { searchIndex: { servingChunks } } as unknown as Store;
}

const documentOf = (id: string, chunk_count: number) => ({ id, knowledge_base_id: 'kb_1', chunk_count });

function countChanged(stored: string[], parsed: string[], heading = 'Tea'): Promise<number> {
	const chunks = parsed.map((text) => ({ text, heading_path: [heading] }) as ParsedChunk);
	return countChangedChunks(storeOf({ doc_1: stored }), documentOf('doc_1', stored.length), { chunks });
}

test('counts the chunks that were added, removed or replaced, not those that are the same', async () => {
	const many = Array.from({ length: 450 }, (_, at) => `chunk ${at}`);
	assert.equal(await countChanged(many, many), 0);
	assert.equal(await countChanged([], many), 450);
	assert.equal(await countChanged(many, ['new', ...many.slice(1)]), 1);
	assert.equal(await countChanged(many, many.slice(3)), 3);
	assert.equal(await countChanged(many, [...many, 'a', 'b']), 2);
	assert.equal(await countChanged(['a', 'a'], ['a']), 1);
	assert.equal(await countChanged(['a'], ['a', 'a']), 1);
	assert.equal(await countChanged(['a', 'b'], ['a', 'b'], 'Ink'), 2, 'the same texts under another heading');
});

test('counts the chunks that the copy of another document changes', async () => {
	const countChanged = (stored: string[], copied: string[]) =>
		countChunksChangedByCopy(
			storeOf({ doc_1: stored, doc_2: copied }),
			documentOf('doc_1', stored.length),
			documentOf('doc_2', copied.length),
		);
	assert.equal(await countChanged(['a', 'b'], ['a', 'b']), 0);
	assert.equal(await countChanged([], ['a', 'b']), 2);
	assert.equal(await countChanged(['a', 'b', 'c'], ['a', 'b']), 1);
});
