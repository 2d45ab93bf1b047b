import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ParsedDocument } from '../../contract/index.ts';
import type { DocumentRecord, Store } from '../../store/index.ts';

/** Chunks that are read or counted at once. It bounds the time that the main thread is blocked. */
const PAGE_SIZE = 200;

/**
 * How many chunks of a document differ from those that are indexed: added, removed and replaced ones. A page that is fetched
 * again is mostly the same, and must not make a training due.
 */
export async function countChangedChunks(
	store: Pick<Store, 'searchIndex'>,
	{ id, knowledge_base_id, chunk_count }: Pick<DocumentRecord, 'id' | 'knowledge_base_id' | 'chunk_count'>,
	{ chunks }: Pick<ParsedDocument, 'chunks'>,
): Promise<number> {
	if (chunk_count === 0) return chunks.length;
	const parsed = new Map<string, number>();
	for (const [index, chunk] of chunks.entries()) {
		if (index % PAGE_SIZE === PAGE_SIZE - 1) await yieldToEventLoop();
		const key = keyOf(chunk);
		parsed.set(key, (parsed.get(key) ?? 0) + 1);
	}
	let stored = 0;
	let same = 0;
	let after = -1;
	for (;;) {
		const page = await store.searchIndex.servingChunks(knowledge_base_id, id, after, PAGE_SIZE);
		const last = page.at(-1);
		if (!last) return Math.max(stored, chunks.length) - same;
		for (const chunk of page) {
			const key = keyOf(chunk);
			const count = parsed.get(key) ?? 0;
			if (count > 0) same++;
			parsed.set(key, count - 1);
		}
		stored += page.length;
		after = last.position;
		await yieldToEventLoop();
	}
}

/** What a basis is trained on: headings count, too. */
function keyOf({ text, heading_path }: Pick<ParsedDocument['chunks'][number], 'text' | 'heading_path'>): string {
	return JSON.stringify([heading_path, text]);
}
