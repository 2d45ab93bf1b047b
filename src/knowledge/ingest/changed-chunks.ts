import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ParsedDocument } from '../../contract/index.ts';
import type { DocumentRecord, Store } from '../../store/index.ts';

/** Chunks that are read or counted at once. It bounds the time that the main thread is blocked. */
const PAGE_SIZE = 200;

type IndexedDocument = Pick<DocumentRecord, 'id' | 'knowledge_base_id' | 'chunk_count'>;

/** What a basis is trained on: headings count, too. */
type TrainedText = Pick<ParsedDocument['chunks'][number], 'text' | 'heading_path'>;

/**
 * How many chunks of a document differ from those that are indexed: added, removed and replaced ones. A page that is fetched
 * again is mostly the same, and must not make a training due.
 */
export async function countChangedChunks(
	store: Pick<Store, 'searchIndex'>,
	document: IndexedDocument,
	{ chunks }: Pick<ParsedDocument, 'chunks'>,
): Promise<number> {
	return document.chunk_count === 0 ? chunks.length : countDifferences(indexedPages(store, document), pagesOf(chunks));
}

/** As `countChangedChunks`, for a document that gets the chunks of another one of the same knowledge base. */
export async function countChunksChangedByCopy(
	store: Pick<Store, 'searchIndex'>,
	document: IndexedDocument,
	original: IndexedDocument,
): Promise<number> {
	if (document.chunk_count === 0) return original.chunk_count;
	return countDifferences(indexedPages(store, document), indexedPages(store, original));
}

async function countDifferences(
	before: AsyncIterable<readonly TrainedText[]>,
	after: AsyncIterable<readonly TrainedText[]>,
): Promise<number> {
	const unmatched = new Map<string, number>();
	let afterCount = 0;
	for await (const page of after) {
		for (const chunk of page) {
			const key = keyOf(chunk);
			unmatched.set(key, (unmatched.get(key) ?? 0) + 1);
		}
		afterCount += page.length;
		await yieldToEventLoop();
	}
	let beforeCount = 0;
	let sameCount = 0;
	for await (const page of before) {
		for (const chunk of page) {
			const key = keyOf(chunk);
			const count = unmatched.get(key) ?? 0;
			if (count > 0) sameCount++;
			unmatched.set(key, count - 1);
		}
		beforeCount += page.length;
		await yieldToEventLoop();
	}
	return Math.max(beforeCount, afterCount) - sameCount;
}

async function* indexedPages(
	{ searchIndex }: Pick<Store, 'searchIndex'>,
	{ id, knowledge_base_id }: IndexedDocument,
): AsyncGenerator<readonly TrainedText[]> {
	for (let after = -1; ; ) {
		const page = await searchIndex.servingChunks(knowledge_base_id, id, after, PAGE_SIZE);
		const last = page.at(-1);
		if (!last) return;
		yield page;
		after = last.position;
	}
}

async function* pagesOf(chunks: readonly TrainedText[]): AsyncGenerator<readonly TrainedText[]> {
	for (let at = 0; at < chunks.length; at += PAGE_SIZE) yield chunks.slice(at, at + PAGE_SIZE);
}

function keyOf({ text, heading_path }: TrainedText): string {
	return JSON.stringify([heading_path, text]);
}
