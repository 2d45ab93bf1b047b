import { newId } from '../base/index.ts';
import type { Document } from '../contract/index.ts';
import { type Commit, type DocumentRecord, expectVersion, type KnowledgeBaseRecord } from '../store/index.ts';
import { countsOf, moveCounts, removeFromIndex } from './status.ts';

/** The data of a document at the time it is added. */
export interface NewDocument {
	source_type: Document['source_type'];
	/** Absent: the title of the file or page itself, or the file's name. */
	title?: string | undefined;
	url?: string | undefined;
	file_name?: string | null | undefined;
	content_type?: string | null | undefined;
}

/** The kind of job that turns a queued document into an indexed one. */
export const INGEST = 'ingest';
/** The kind of the jobs that index a document with scanned pages, whose text is recognised. Its `ingest` job has found them. */
export const RECOGNISE = 'recognise';

/** The earliest time, not the present time: a clock that is set back must not delay a document. */
const DUE_NOW = 0;

/** The job that indexes a document. */
export function ingestJob(documentId: string, knowledgeBaseId: string, due_at = DUE_NOW) {
	return documentJob(INGEST, documentId, knowledgeBaseId, due_at);
}

/** The job that indexes a document whose scanned pages are recognised. */
export function recognitionJob(documentId: string, knowledgeBaseId: string) {
	return documentJob(RECOGNISE, documentId, knowledgeBaseId, DUE_NOW);
}

function documentJob(kind: string, documentId: string, knowledgeBaseId: string, due_at: number) {
	const job = { id: newId('job'), kind, ref: documentId, group: knowledgeBaseId, due_at };
	return { op: 'enqueue', job } as const;
}

/** The commit that removes documents of one knowledge base and their part of the index, in any state. */
export function removalOf(
	knowledgeBase: KnowledgeBaseRecord,
	documents: readonly DocumentRecord[],
	now: number,
): Required<Pick<Commit, 'expect' | 'write' | 'events' | 'jobs'>> {
	const change = { total: -documents.length, pending: 0, failed: 0, chunks: 0 };
	for (const document of documents) {
		const { pending, failed } = countsOf(document);
		change.pending -= pending;
		change.failed -= failed;
		change.chunks += document.chunk_count;
	}
	const counts = moveCounts(knowledgeBase, change, now);
	return {
		expect: [
			expectVersion('knowledge_bases', knowledgeBase),
			...documents.map((document) => expectVersion('documents', document)),
		],
		write: [
			counts.write,
			...documents.flatMap(({ id }) => [
				{ op: 'remove', kind: 'documents', id } as const,
				...removeFromIndex(knowledgeBase, id),
			]),
		],
		events: counts.events,
		jobs: [...documents.map(({ id }) => ({ op: 'complete_all', ref: id }) as const), ...counts.jobs],
	};
}

/** A document that waits for its processing. */
export function newRecord(
	knowledgeBase: KnowledgeBaseRecord,
	{ source_type, title, url, file_name, content_type }: NewDocument,
): Omit<DocumentRecord, 'version' | 'created_at' | 'updated_at'> {
	return {
		id: newId('document'),
		workspace_id: knowledgeBase.workspace_id,
		knowledge_base_id: knowledgeBase.id,
		title: title ?? '',
		source_type,
		url: url ?? null,
		file_name: file_name ?? null,
		content_type: content_type ?? null,
		size_bytes: null,
		blob: null,
		status: 'queued',
		error: null,
		attempts: 0,
		chunk_count: 0,
		page_count: null,
		language: null,
		indexed_at: null,
		source_id: null,
	};
}
