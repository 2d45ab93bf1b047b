import { setImmediate } from 'node:timers/promises';
import type { Document } from '../contract/index.ts';
import type { DocumentRecord, ListPosition, Store } from '../store/index.ts';

/** Rows of one read. */
const READ_SIZE = 500;

export interface DocumentsQuery {
	knowledgeBaseId: string;
	status?: Document['status'] | undefined;
	/** A part of the title, the file name or the URL, in upper or lower case. */
	name?: string | undefined;
	order: 'asc' | 'desc';
	after: ListPosition | undefined;
	limit: number;
}

/**
 * The documents of a knowledge base that match a query, in order of creation. A search by name reads every document until it has
 * enough, and yields to the event loop between two reads: a knowledge base of 50,000 documents does not block other work.
 */
export async function findDocuments(
	store: Pick<Store, 'list'>,
	{ knowledgeBaseId, status, name, order, after, limit }: DocumentsQuery,
): Promise<DocumentRecord[]> {
	const where = { knowledge_base_id: knowledgeBaseId, ...(status === undefined ? {} : { status }) };
	if (name === undefined) return store.list('documents', { where, order, after, limit });
	const wanted = comparable(name);
	const found: DocumentRecord[] = [];
	for (let position = after; ; ) {
		const read = await store.list('documents', { where, order, after: position, limit: READ_SIZE });
		for (const document of read) if (hasName(document, wanted)) found.push(document);
		const last = read.at(-1);
		if (last === undefined || read.length < READ_SIZE || found.length >= limit) return found.slice(0, limit);
		position = { at: last.created_at, id: last.id };
		await setImmediate();
	}
}

function hasName({ title, file_name, url }: DocumentRecord, wanted: string): boolean {
	return [title, file_name, url].some((text) => text !== null && comparable(text).includes(wanted));
}

/** Without the differences of case and of composed letters. */
function comparable(text: string): string {
	return text.normalize('NFC').toLowerCase();
}
