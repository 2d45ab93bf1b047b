import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParsedChunk } from '../../src/contract/index.ts';
import { countChangedChunks } from '../../src/knowledge/ingest/changed-chunks.ts';
import type { Store } from '../../src/store/index.ts';

function countChanged(stored: string[], parsed: string[], heading = 'Tea'): Promise<number> {
	const servingChunks: Store['searchIndex']['servingChunks'] = async (_base, document_id, after, limit) =>
		stored
			.map((text, position) => ({ id: position, document_id, position, text, heading_path: ['Tea'], page: null }))
			.filter(({ position }) => position > after)
			.slice(0, limit);
	const store = { searchIndex: { servingChunks } } as unknown as Store;
	const chunks = parsed.map((text) => ({ text, heading_path: [heading] }) as ParsedChunk);
	return countChangedChunks(store, { id: 'doc_1', knowledge_base_id: 'kb_1', chunk_count: stored.length }, { chunks });
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
