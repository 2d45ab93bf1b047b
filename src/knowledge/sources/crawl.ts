import { type Clock, KeyedLock, type Log, shortageOf, sleep } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	type Job,
	type JobWrite,
	type SourcePageRecord,
	type SourceRecord,
	type Store,
	type Write,
} from '../../store/index.ts';
import type { Documents } from '../documents.ts';
import { type JobHandler, retryDelay, shortageDelay } from '../job-loop.ts';
import { isPending } from '../status.ts';
import { canonicalUrl } from './canonical-url.ts';
import { isStart } from './decision.ts';
import {
	type FormerContent,
	linksOfFormer,
	sitemapsOfSite,
	type Visit,
	type VisitDependencies,
	visitPage,
} from './fetch-page.ts';
import { HostPace, MAX_WAIT_MS } from './host-pace.ts';
import { removeSource } from './remove-source.ts';
import { RobotsCache } from './robots-cache.ts';
import { CRAWL, endOfRun, isDue, nextClaimAt } from './run-state.ts';
import { hostKey, isInScope } from './scope.ts';
import { MAX_SITEMAPS, settleMissedPage, settlePage } from './settle-page.ts';

export interface CrawlDependencies {
	store: Store;
	network: Pick<Network, 'download'>;
	clock: Clock;
	documents: Pick<Documents, 'removeUnusedBlob'>;
	log: Log;
	/** Called when there is something to ingest. */
	onQueued(): void;
	/** Milliseconds until the first retry of a job. */
	retryMs: number;
	/** Milliseconds between two requests to a host that asks for no delay. */
	crawlDelayMs: number;
}

/** Sources that are crawled concurrently. */
const MAX_CONCURRENT = 8;
/** A claim works this long, then other sources get its place. */
const SLICE_MS = 30_000;
/** Longer than a slice and a page together, with the longest delay of a host. */
const LEASE_MS = 30 * 60_000;
/**
 * Documents of a run wait this many delays before they are indexed. Then the queue of the knowledge base is not empty between
 * two pages, and a training follows the run and not each page.
 */
const DELAYS_BEFORE_INDEXING = 10;
/** Claims of a job, each ended by a crash. In the last one, the page at which the process died fails, so that the crashes end. */
const MAX_CLAIMS = 3;
/** Milliseconds between two looks at a document that is being indexed. */
const PENDING_CHECK_MS = 250;
/** Missed pages that are read at once. */
const MISSED_BATCH = 100;

/**
 * Runs sources: begins a run, visits the pages of its frontier, and removes what two runs have missed. The frontier is in the
 * store, and each page is one transaction: the next process continues where this one was killed.
 */
export class Crawl implements JobHandler {
	readonly kind = CRAWL;
	readonly concurrencyLimit = MAX_CONCURRENT;
	readonly leaseMs = LEASE_MS;
	readonly #deps: CrawlDependencies;
	readonly #visits: VisitDependencies;
	/** One run of a source at a time, also if it was paused and resumed during a visit. */
	readonly #running = new KeyedLock();

	constructor(deps: CrawlDependencies) {
		const { store, network, clock, log, crawlDelayMs } = deps;
		this.#deps = deps;
		const pace = new HostPace(clock, crawlDelayMs);
		this.#visits = { store, network, clock, pace, robots: new RobotsCache({ network, clock }), log };
	}

	perform(job: Job, signal: AbortSignal): Promise<void> {
		return this.#running.run(job.ref, () => this.#slice(job, signal));
	}

	/** Failures of this server are retried without end: the site is not their cause. */
	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, retryMs } = this.#deps;
		const waitMs = (shortageOf(error) ? shortageDelay : retryDelay)(retryMs, failures);
		await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at: clock.now() + waitMs }] });
	}

	async #slice(job: Job, signal: AbortSignal): Promise<void> {
		const { store, clock } = this.#deps;
		const end = performance.now() + SLICE_MS;
		let { attempts } = job;
		while (performance.now() < end) {
			signal.throwIfAborted();
			const source = await store.get('sources', job.ref);
			if (source?.state === 'deleting') {
				await removeSource(this.#deps, source.id, signal);
				return;
			}
			if (source?.state !== 'active') {
				await store.commit({ jobs: [{ op: 'complete', id: job.id }] });
				return;
			}
			if (source.running === 0) {
				if (!(await this.#begin(job, source))) return;
				continue;
			}
			const page = await store.sources.nextPage(source.id);
			if (page === undefined) {
				if (await this.#finish(source, signal)) return;
				continue;
			}
			const waitMs = this.#visits.pace.waitMs(new URL(page.url).host);
			if (waitMs > MAX_WAIT_MS) {
				await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at: clock.now() + waitMs }] });
				return;
			}
			if (attempts >= MAX_CLAIMS) await this.#fail(source, page);
			else if (!(await this.#visit(source, page, signal))) continue;
			// The order of the frontier is fixed: the page at which the process died is the first one of the next claim.
			if (attempts > 1) await store.commit({ jobs: [{ op: 'restart_attempts', id: job.id }] });
			attempts = 1;
		}
		await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at: clock.now() }] });
	}

	/** Begins the run that is due; false if none is. */
	#begin(job: Job, { id }: SourceRecord): Promise<boolean> {
		const { store, clock } = this.#deps;
		return decideAndCommit(store, async () => {
			const source = await store.get('sources', id);
			const now = clock.now();
			if (source?.state !== 'active' || source.running === 1) return { commit: null, result: true };
			if (!isDue(source, now)) {
				const jobWrite: JobWrite =
					source.next_run_at === null
						? { op: 'complete', id: job.id }
						: { op: 'postpone', id: job.id, due_at: nextClaimAt(source.next_run_at, now) };
				return { commit: { expect: [expectVersion('sources', source)], jobs: [jobWrite] }, result: false };
			}
			return { commit: beginRun(source, now), result: true };
		});
	}

	/** Visits a page; false if it has to wait for its document or its host. */
	async #visit(source: SourceRecord, page: SourcePageRecord, signal: AbortSignal): Promise<boolean> {
		const { store, clock, crawlDelayMs, onQueued } = this.#deps;
		const document = page.document_id === null ? undefined : await store.get('documents', page.document_id);
		if (document && isPending(document)) {
			// New bytes must not replace those that are being indexed. Documents that wait, wait for all others too.
			await sleep(Math.min(PENDING_CHECK_MS, Math.max(crawlDelayMs, 10)), signal);
			if (await this.#isStillPending(document.id)) return false;
		}
		const address = page.fetch_url ?? page.url;
		const isStored = document?.blob && document.blob === page.blob && document.url === address;
		const former: FormerContent | null = isStored
			? {
					etag: page.etag,
					last_modified: page.last_modified,
					blob: document.blob as string,
					contentType: document.content_type,
				}
			: null;
		const visit = await this.#request(source, page, address, former, signal);
		if (visit === null) return false;
		const formerLinks =
			visit.outcome === 'failed' && former ? await linksOfFormer(this.#visits, address, former) : null;
		const namesSitemaps = source.type === 'website' && source.depth > 0 && isStart(page);
		const sitemaps = namesSitemaps ? await sitemapsOfSite(this.#visits, address, signal) : [];
		const waitMs = source.type === 'url' ? 0 : Math.min(DELAYS_BEFORE_INDEXING * crawlDelayMs, 60_000);
		const indexAt = waitMs === 0 ? 0 : clock.now() + waitMs;
		await settlePage(this.#deps, { source, page, visit, address, formerLinks, sitemaps, indexAt });
		onQueued();
		return true;
	}

	/** A page that may be the cause of the process's crashes fails without a request. */
	async #fail(source: SourceRecord, page: SourcePageRecord): Promise<void> {
		const problem = { code: 'internal_error', message: 'The server stopped each time when it processed the page.' };
		const visit: Visit = { outcome: 'failed', httpStatus: null, problem, isTransient: false };
		await settlePage(this.#deps, {
			source,
			page,
			visit,
			address: page.url,
			formerLinks: null,
			sitemaps: [],
			indexAt: 0,
		});
	}

	async #isStillPending(documentId: string): Promise<boolean> {
		const document = await this.#deps.store.get('documents', documentId);
		return document !== undefined && isPending(document);
	}

	async #request(
		source: SourceRecord,
		page: SourcePageRecord,
		address: string,
		former: FormerContent | null,
		signal: AbortSignal,
	): Promise<Visit | null> {
		// Its document was removed by a request, and only a website has pages that lead to others.
		if (page.status === 'removed' && source.type !== 'website')
			return { outcome: 'not_modified', httpStatus: null, facts: null };
		const sitemap =
			page.kind === 'page'
				? null
				: {
						maxPages: source.max_pages,
						maxSitemaps: MAX_SITEMAPS,
						isWanted: ({ url }: { url: string }) => isInScope(source, url),
					};
		return visitPage(this.#visits, { address, former, sitemap }, signal);
	}

	/** Ends a run whose frontier is empty; false if pages came into the frontier again. */
	async #finish(source: SourceRecord, signal: AbortSignal): Promise<boolean> {
		const { store, clock, onQueued } = this.#deps;
		while (source.incomplete === 0) {
			const missed = await store.sources.missedPages(source.id, source.run, MISSED_BATCH);
			for (const page of missed) {
				signal.throwIfAborted();
				await settleMissedPage(this.#deps, source.id, source.run, page.id);
			}
			const current = await store.get('sources', source.id);
			if (current?.state !== 'active' || current.run !== source.run || current.running === 0) return false;
			if (missed.length < MISSED_BATCH) break;
		}
		if (await store.sources.nextPage(source.id)) return false;
		const { total } = await store.sources.documentCounts(source.id);
		const isEnded = await decideAndCommit(store, async () => {
			const current = await store.get('sources', source.id);
			const isCurrent = current?.state === 'active' && current.running === 1 && current.run === source.run;
			if (!isCurrent) return { commit: null, result: false };
			const end = endOfRun(current, total === 0 ? NO_DOCUMENTS : null, clock.now());
			const { id, run, incomplete } = current;
			const commit: Commit = {
				expect: [expectVersion('sources', current)],
				write: [
					...end.write,
					...(incomplete === 0 ? [{ op: 'sources.remove_sitemaps', source_id: id, run } as const] : []),
					{ op: 'patch', kind: 'sources', id, set: end.set },
				],
				jobs: end.jobs,
			};
			return { commit, result: true };
		});
		onQueued();
		return isEnded;
	}
}

/** The error of a run without any document. */
const NO_DOCUMENTS = {
	code: 'no_text',
	message: 'No page of the source gave a document. The list of its pages says why.',
};

/** The commit with which a run begins: its frontier is the start of the source. A run without a start ends at once. */
function beginRun(source: SourceRecord, now: number): Commit {
	const { id: source_id, max_pages } = source;
	const run = source.run + 1;
	const start = canonicalUrl(source.url);
	if (start === null) {
		const end = endOfRun(source, { code: 'url_not_allowed', message: 'The URL of the source is too long.' }, now);
		const write: Write = { op: 'patch', kind: 'sources', id: source_id, set: { ...end.set, run, started_at: now } };
		return { expect: [expectVersion('sources', source)], write: [...end.write, write], jobs: end.jobs };
	}
	const { url, fetchUrl } = start;
	const kind = source.type === 'sitemap' ? 'sitemap' : 'page';
	const pages = [{ kind, url, fetch_url: fetchUrl === url ? null : fetchUrl, depth: 0 } as const];
	const set = {
		run,
		running: 1,
		hosts: [hostKey(new URL(url))],
		incomplete: 0,
		failures_in_a_row: 0,
		error: null,
		fetched: 0,
		unchanged: 0,
		failed: 0,
		gone: 0,
		started_at: now,
		next_run_at: null,
		updated_at: now,
	} as const;
	return {
		expect: [expectVersion('sources', source)],
		write: [
			{ op: 'patch', kind: 'sources', id: source_id, set: { ...set, hosts: [...set.hosts] } },
			{ op: 'sources.clear_frontier', source_id },
			{ op: 'sources.find_pages', source_id, run, pages, max_pages, max_sitemaps: MAX_SITEMAPS, at: now },
		],
	};
}
