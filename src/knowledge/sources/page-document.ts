import { newId } from '../../base/index.ts';
import {
	type Commit,
	type DocumentRecord,
	expectVersion,
	type KnowledgeBaseRecord,
	type SourcePageRecord,
	type SourceRecord,
} from '../../store/index.ts';
import { ingestJob, newRecord } from '../document-changes.ts';
import { countsOf, moveCounts } from '../status.ts';
import type { PageAddress } from './canonical-url.ts';
import type { PageContent } from './fetch-page.ts';

/** The parts of one commit. */
export type CommitParts = Required<Pick<Commit, 'expect' | 'write' | 'events' | 'jobs'>>;

/** A commit without writes. */
export function emptyCommit(expect: CommitParts['expect'] = []): CommitParts {
	return { expect, write: [], events: [], jobs: [] };
}

/** What a page's document is made of. */
interface StoredContent {
	source: SourceRecord;
	address: string;
	page: PageContent;
	indexAt: number;
	now: number;
}

/** The new content of a page's document. The former content is found until the new one is indexed. */
export function storeDocument(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord | undefined,
	{ source, address, page, indexAt, now }: StoredContent,
): { id: string; parts: CommitParts } {
	const { blob, contentType, fileName } = page;
	const content = {
		url: address,
		blob: blob.hash,
		size_bytes: blob.size,
		content_type: contentType,
		file_name: fileName,
	};
	if (document === undefined) {
		const draft = newRecord(knowledgeBase, { source_type: 'url' });
		const record = { ...draft, ...content, source_id: source.id, version: 1, created_at: now, updated_at: now };
		const counts = moveCounts(knowledgeBase, { total: 1, pending: 1 }, now);
		const parts = {
			expect: [expectVersion('knowledge_bases', knowledgeBase)],
			write: [{ op: 'insert' as const, kind: 'documents' as const, record }, counts.write],
			events: counts.events,
			jobs: [ingestJob(record.id, knowledgeBase.id, indexAt)],
		};
		return { id: record.id, parts };
	}
	// The page's own title may have changed, too.
	const set = { ...content, title: '', status: 'queued' as const, error: null, attempts: 0, updated_at: now };
	const counts = moveCounts(knowledgeBase, { pending: 1, failed: -countsOf(document).failed }, now);
	const parts = {
		expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
		write: [counts.write, { op: 'patch' as const, kind: 'documents' as const, id: document.id, set }],
		events: counts.events,
		jobs: [ingestJob(document.id, knowledgeBase.id, indexAt), ...counts.jobs],
	};
	return { id: document.id, parts };
}

/** Gives the document of a page to the page that counts in its place, which is visited in this run. */
export function handOver(
	{ id: source_id, run }: SourceRecord,
	page: SourcePageRecord,
	target: SourcePageRecord | undefined,
	address: PageAddress & { depth: number },
	now: number,
): CommitParts {
	const due_order = 2 * address.depth;
	const parts = emptyCommit();
	if (target) {
		const set = { document_id: page.document_id, due_order, seen_run: run, attempts: 0, updated_at: now };
		parts.expect.push(expectVersion('source_pages', target));
		parts.write.push({ op: 'patch', kind: 'source_pages', id: target.id, set });
		return parts;
	}
	const record: SourcePageRecord = {
		...page,
		id: newId('source_page'),
		url: address.url,
		fetch_url: address.fetchUrl === address.url ? null : address.fetchUrl,
		depth: address.depth,
		status: 'queued',
		error: null,
		http_status: null,
		target_url: null,
		blob: null,
		content: null,
		etag: null,
		last_modified: null,
		misses: 0,
		attempts: 0,
		due_order,
		seen_run: run,
		missed_run: 0,
		fetched_at: null,
		changed_at: null,
		created_at: now,
		updated_at: now,
	};
	parts.write.push({ op: 'insert', kind: 'source_pages', record: { ...record, source_id } });
	return parts;
}
