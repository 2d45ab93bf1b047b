import { AppError, type Clock } from '../../base/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	expectVersion,
	type SourcePageRecord,
	type SourceRecord,
	type Store,
} from '../../store/index.ts';
import { removalOf } from '../document-changes.ts';
import type { Documents } from '../documents.ts';
import { isPending } from '../status.ts';
import { decideMissedPage } from './absence.ts';
import type { PageAddress } from './canonical-url.ts';
import type { PageDecision } from './decision.ts';
import type { Visit } from './fetch-page.ts';
import { decidePage, targetOf } from './page-decision.ts';
import { type CommitParts, emptyCommit, handOver, storeDocument } from './page-document.ts';
import { endOfRun } from './run-state.ts';
import { hostKey } from './scope.ts';

export interface SettleDependencies {
	store: Store;
	clock: Clock;
	documents: Pick<Documents, 'removeUnusedBlob'>;
}

/** A visit of one page, and what the decision about it needs. */
export interface VisitedPage {
	source: SourceRecord;
	page: SourcePageRecord;
	visit: Visit;
	/** The address that was requested. */
	address: string;
	formerLinks: PageAddress[] | null;
	/** The sitemaps that the site names for its pages. */
	sitemaps: PageAddress[];
	/** The time before which its document is not indexed (ms since the epoch). */
	indexAt: number;
}

/** Sitemaps of one source. */
export const MAX_SITEMAPS = 100;
/** Visits of a run, for each page that it may have: pages that point at each other in turn do not keep it running. */
const MAX_VISITS_PER_PAGE = 3;
/** Pages in a row whose first attempt got no usable answer, after which a run ends: the site is down. */
const MAX_FAILURES_IN_A_ROW = 20;

const NOTHING = { commit: null, result: [] as string[] };

/**
 * Commits what follows from a visit: page, document, job, found pages and progress in one transaction. Nothing is committed if
 * the run has ended, or was paused, since the visit began.
 */
export async function settlePage(deps: SettleDependencies, visited: VisitedPage): Promise<void> {
	const { store } = deps;
	const { visit } = visited;
	if (visit.outcome !== 'content') {
		await removeBlobs(deps, await decideAndCommit(store, () => decide(deps, visited, async () => {})));
		return;
	}
	const { blob } = visit.page;
	let isPersisted = false;
	const persist = async () => {
		if (!isPersisted) await blob.persist();
		isPersisted = true;
	};
	let formerBlobs: string[] = [];
	try {
		formerBlobs = await store.blobs.exclusive(blob.hash, () =>
			decideAndCommit(store, () => decide(deps, visited, persist)),
		);
	} finally {
		if (!isPersisted) await blob.discard();
		else await removeBlobs(deps, [...formerBlobs, blob.hash]);
	}
	if (!isPersisted) await removeBlobs(deps, formerBlobs);
}

async function removeBlobs({ documents }: SettleDependencies, hashes: readonly string[]): Promise<void> {
	for (const hash of hashes) await documents.removeUnusedBlob(hash);
}

/** The commit, and the blobs that it makes useless. */
async function decide(
	{ store, clock }: SettleDependencies,
	{ visit, address, formerLinks, sitemaps, indexAt, ...visited }: VisitedPage,
	persist: () => Promise<void>,
): Promise<{ commit: Commit | null; result: string[] }> {
	const source = await store.get('sources', visited.source.id);
	const page = await store.get('source_pages', visited.page.id);
	const knowledgeBase = source && (await store.get('knowledge_bases', source.knowledge_base_id));
	const isCurrent = source?.state === 'active' && source.running === 1 && source.run === visited.source.run;
	if (!isCurrent || !knowledgeBase || !page || page.due_order === null) return NOTHING;
	const document = page.document_id === null ? undefined : await store.get('documents', page.document_id);
	const hasDocument = document?.blob != null && document.blob === page.blob && document.url === address;
	const targetAddress = targetOf(page, visit);
	const target = targetAddress ? await store.sources.pageByUrl(source.id, targetAddress.url) : undefined;
	const content = contentOf(visit, page);
	const twin = content === null ? undefined : await store.sources.pageWithContent(page, content);
	const now = clock.now();
	const decision = decidePage({ source, page, address, hasDocument, target, twin, formerLinks, now }, visit);
	if (decision.isAnswered) decision.found.push(...sitemapsWithin(source, sitemaps));
	const parts = emptyCommit([expectVersion('sources', source), expectVersion('source_pages', page)]);
	const set: Partial<SourcePageRecord> = { ...decision.set, updated_at: now };
	if (visit.outcome !== 'failed') set.fetched_at = now;
	const formerBlobs: string[] = [];
	const change = documentChange(decision, document, target);
	if (change === 'store' && visit.outcome === 'content') {
		// The former bytes are being indexed: the caller waits for their end.
		if (document && isPending(document))
			throw new AppError('unavailable', 'The former content of the page is being indexed.');
		await persist();
		const stored = storeDocument(knowledgeBase, document, { source, address, page: visit.page, indexAt, now });
		add(parts, stored.parts);
		Object.assign(set, { document_id: stored.id, changed_at: now });
		if (document?.blob) formerBlobs.push(document.blob);
	} else if (change === 'remove' && document) {
		add(parts, removalOf(knowledgeBase, [document], now));
		set.document_id = null;
		if (document.blob) formerBlobs.push(document.blob);
	} else if (change === 'hand_over' && targetAddress) {
		set.document_id = null;
		const depth = decision.found.find(({ url }) => url === targetAddress.url)?.depth ?? page.depth;
		add(parts, handOver(source, page, target, { ...targetAddress, depth }, now));
	}
	parts.write.push({ op: 'patch', kind: 'source_pages', id: page.id, set });
	addFound(parts, source, page, decision, now);
	addProgress(parts, source, page, decision, now);
	return { commit: parts, result: formerBlobs };
}

/** The sitemaps on the hosts of a source. They list pages that no other page may link to. */
function sitemapsWithin({ hosts }: SourceRecord, sitemaps: readonly PageAddress[]): PageDecision['found'] {
	return sitemaps
		.filter(({ url }) => hosts.includes(hostKey(new URL(url))))
		.map((address) => ({ ...address, kind: 'sitemap', depth: 1 }));
}

/** What the content of a page is after a visit; null if it is not known. */
function contentOf(visit: Visit, page: SourcePageRecord): string | null {
	if (visit.outcome === 'content') return visit.page.content;
	return visit.outcome === 'not_modified' && page.document_id !== null ? page.content : null;
}

function documentChange(
	decision: PageDecision,
	document: DocumentRecord | undefined,
	target: SourcePageRecord | undefined,
): PageDecision['document'] {
	if (document === undefined && decision.document !== 'store') return 'keep';
	return decision.document === 'hand_over' && target?.document_id ? 'remove' : decision.document;
}

function addFound(
	parts: CommitParts,
	source: SourceRecord,
	page: SourcePageRecord,
	{ found, freesDuplicates }: PageDecision,
	at: number,
): void {
	const { id: source_id, run, max_pages } = source;
	if (found.length > 0) {
		const pages = found.map(({ kind, url, fetchUrl, depth }) => ({
			kind,
			url,
			fetch_url: fetchUrl === url ? null : fetchUrl,
			depth,
		}));
		parts.write.push({ op: 'sources.find_pages', source_id, run, pages, max_pages, max_sitemaps: MAX_SITEMAPS, at });
	}
	const isBounded = source.fetched < MAX_VISITS_PER_PAGE * max_pages;
	if (freesDuplicates && isBounded)
		parts.write.push({ op: 'sources.find_duplicates', source_id, run, target_url: page.url });
}

function addProgress(
	parts: CommitParts,
	source: SourceRecord,
	page: SourcePageRecord,
	decision: PageDecision,
	now: number,
): void {
	const { counts, host, isAnswered, isIncomplete, endsRun } = decision;
	// Further attempts follow each other at the end of a run. A few broken pages do not show that the site is down.
	const failures = isAnswered ? 0 : source.failures_in_a_row + (page.attempts === 0 ? 1 : 0);
	const set: Partial<SourceRecord> = { failures_in_a_row: failures, updated_at: now };
	for (const name of ['fetched', 'unchanged', 'failed', 'gone'] as const)
		set[name] = source[name] + (counts[name] ?? 0);
	if (host !== null && !source.hosts.includes(host)) set.hosts = [...source.hosts, host];
	if (isIncomplete) set.incomplete = 1;
	const isDown = failures >= MAX_FAILURES_IN_A_ROW;
	const message = `${failures} pages in a row gave no usable answer. The run ends, and the next one tries again.`;
	const problem = endsRun ?? (isDown ? { code: 'unreadable_file', message } : null);
	if (problem !== null) {
		const end = endOfRun({ ...source, ...set }, problem, now);
		Object.assign(set, end.set);
		parts.write.push(...end.write);
		parts.jobs.push(...end.jobs);
	}
	parts.write.push({ op: 'patch', kind: 'sources', id: source.id, set });
}

function add(parts: CommitParts, more: CommitParts): void {
	parts.expect.push(...more.expect);
	parts.write.push(...more.write);
	parts.events.push(...more.events);
	parts.jobs.push(...more.jobs);
}

/** Counts a miss of a page that a finished run has not found, and removes what two runs have missed. */
export async function settleMissedPage(
	deps: SettleDependencies,
	sourceId: string,
	run: number,
	pageId: string,
): Promise<void> {
	const { store, clock } = deps;
	const formerBlobs = await decideAndCommit(store, async () => {
		const source = await store.get('sources', sourceId);
		const page = await store.get('source_pages', pageId);
		const knowledgeBase = source && (await store.get('knowledge_bases', source.knowledge_base_id));
		const isCurrent = source?.state === 'active' && source.running === 1 && source.run === run;
		if (!isCurrent || !knowledgeBase || !page || page.missed_run >= run || page.seen_run >= run) return NOTHING;
		// Without its row, a later run would add the deleted document again.
		if (page.status === 'removed') return NOTHING;
		const { set, document: change } = decideMissedPage(source, page);
		const document = page.document_id === null ? undefined : await store.get('documents', page.document_id);
		const now = clock.now();
		const isRemoved = change === 'remove';
		const parts = emptyCommit([expectVersion('sources', source), expectVersion('source_pages', page)]);
		if (isRemoved && document) add(parts, removalOf(knowledgeBase, [document], now));
		parts.write.push(
			isRemoved
				? { op: 'remove', kind: 'source_pages', id: page.id }
				: { op: 'patch', kind: 'source_pages', id: page.id, set: { ...set, updated_at: now } },
			{ op: 'sources.find_duplicates', source_id: source.id, run, target_url: page.url },
			{ op: 'patch', kind: 'sources', id: source.id, set: { gone: source.gone + 1, updated_at: now } },
		);
		return { commit: parts, result: isRemoved && document?.blob ? [document.blob] : [] };
	});
	await removeBlobs(deps, formerBlobs);
}
