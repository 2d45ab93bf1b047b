import type { SourcePageRecord, SourceRecord } from '../../store/index.ts';
import type { PageAddress } from './canonical-url.ts';
import type { PageProblem, Visit } from './fetch-page.ts';
import { hostKey, isInScope, isWorthFetching } from './scope.ts';

/** Runs in a row that do not find a page before its document is removed. */
const MAX_MISSES = 2;
/** Attempts at a page in one run. */
const MAX_ATTEMPTS = 3;
/** Further attempts come after all other pages of the run. */
const RETRY_ORDER = 1_000;
/** Redirects, one after the other. */
const MAX_REDIRECTS = 10;
/** An index of sitemaps may list indexes. */
const MAX_SITEMAP_DEPTH = 3;

/** What becomes of the document of a page. */
export type DocumentDecision =
	/** The document stays as it is, if there is one. */
	| 'keep'
	/** The received bytes become the content of its document, or of a new one. */
	| 'store'
	| 'remove'
	/** The page at the target gets it, so that its former content answers until the new content is indexed. */
	| 'hand_over';

/** What follows from a visit. */
export interface PageDecision {
	set: Partial<SourcePageRecord>;
	document: DocumentDecision;
	/** The pages that it leads to. */
	found: Array<PageAddress & { kind: SourcePageRecord['kind']; depth: number }>;
	counts: Partial<Record<'fetched' | 'unchanged' | 'failed' | 'gone', 1>>;
	/** A host that belongs to the source from now on. */
	host: string | null;
	/** Pages in whose place this page counted are visited again. */
	freesDuplicates: boolean;
	/** The run cannot tell which pages are gone. */
	isIncomplete: boolean;
	/** The run ends: without its start it finds nothing. */
	endsRun: PageProblem | null;
	/** Whether the site gave a usable answer. */
	isAnswered: boolean;
}

/** What a decision depends on. */
export interface PageSituation {
	source: SourceRecord;
	page: SourcePageRecord;
	/** The address that was requested. */
	address: string;
	/** Whether its document has this address and the bytes of the last visit that changed it. */
	hasDocument: boolean;
	/** The page that the target of a redirect or the canonical address names, if the source knows it. */
	target: Pick<SourcePageRecord, 'status' | 'target_url'> | undefined;
	/** Another page with the same content and a document. */
	twin: Pick<SourcePageRecord, 'url'> | undefined;
	/** The links of the stored bytes after a failure; null if they are not known. */
	formerLinks: PageAddress[] | null;
}

/** The address that counts in place of the visited page; null if the page itself counts. */
export function targetOf(page: Pick<SourcePageRecord, 'url'>, visit: Visit): PageAddress | null {
	if (visit.outcome === 'redirect') return visit.target;
	const facts = visit.outcome === 'content' ? visit.page.facts : null;
	const canonical = facts?.canonical ?? null;
	if (canonical === null || canonical.url === page.url) return null;
	// A common mistake: every page of a site names the start page.
	return isStartPage(canonical.url) && !isStartPage(page.url) ? null : canonical;
}

function isStartPage(url: string): boolean {
	const { pathname, search } = new URL(url);
	return pathname === '/' && search === '';
}

/** Decides the next state of a page from one visit. */
export function decidePage(situation: PageSituation, visit: Visit): PageDecision {
	switch (visit.outcome) {
		case 'redirect':
			return afterRedirect(situation, visit);
		case 'content':
			return afterContent(situation, visit);
		case 'not_modified':
			return {
				...answered(situation, visit.httpStatus),
				found: linksFrom(situation, visit.facts?.links ?? []),
				counts: { fetched: 1, unchanged: 1 },
			};
		case 'sitemap':
			return afterSitemap(situation, visit);
		case 'missing':
			return afterMiss(situation, visit.httpStatus, 'gone', visit.problem);
		case 'blocked':
			return afterMiss(situation, visit.httpStatus, 'blocked', visit.problem);
		case 'failed':
			return afterFailure(situation, visit);
	}
}

/** The decision for a page whose answer is usable and changes nothing. */
function answered({ page }: Pick<PageSituation, 'page'>, http_status: number | null): PageDecision {
	const status = page.status === 'removed' ? page.status : 'fetched';
	return {
		set: { status, error: null, http_status, target_url: null, misses: 0, due_order: null, attempts: 0 },
		document: 'keep',
		found: [],
		counts: { fetched: 1 },
		host: null,
		freesDuplicates: false,
		isIncomplete: false,
		endsRun: null,
		isAnswered: true,
	};
}

function afterContent(situation: PageSituation, visit: Extract<Visit, { outcome: 'content' }>): PageDecision {
	const { source, page, hasDocument, twin } = situation;
	const { facts, content, blob, etag, lastModified } = visit.page;
	const base = answered(situation, visit.httpStatus);
	const found = linksFrom(situation, facts?.links ?? []);
	if (page.status === 'removed') return { ...base, found };
	if (source.type !== 'url') {
		const { host } = new URL(page.url);
		if (facts?.noindex) {
			const problem = { code: 'forbidden', message: 'The page asks not to be indexed (robots: noindex).' };
			return { ...afterMiss(situation, visit.httpStatus, 'blocked', problem), found, endsRun: null };
		}
		if (!isInScope({ ...source, hosts: [hostKey({ host })] }, page.url)) {
			const problem = {
				code: 'forbidden',
				message: 'The patterns of the source exclude the page. Only its links are followed.',
			};
			return { ...base, set: { ...base.set, status: 'blocked', error: problem }, document: 'remove', found };
		}
		const canonical = targetOf(page, visit);
		if (canonical && isUsableTarget(situation, canonical)) {
			return {
				...countsElsewhere(base, situation, canonical, 'duplicate'),
				found: [...found, { ...canonical, kind: 'page', depth: Math.max(1, page.depth) }],
			};
		}
	}
	if (twin) {
		const set = { ...base.set, status: 'duplicate' as const, target_url: twin.url, ...NO_CONTENT };
		return { ...base, set, document: 'remove', found };
	}
	const isSameContent = hasDocument && page.content === content;
	const isSameBytes = page.blob === blob.hash;
	if (isSameContent) {
		// Validators of other bytes would vouch for bytes that are not stored.
		const validators = isSameBytes ? { etag, last_modified: lastModified } : { etag: null, last_modified: null };
		return { ...base, set: { ...base.set, ...validators }, found, counts: { fetched: 1, unchanged: 1 } };
	}
	const stored = { blob: blob.hash, content, etag, last_modified: lastModified };
	return { ...base, set: { ...base.set, ...stored }, document: 'store', found, freesDuplicates: page.content !== null };
}

const NO_CONTENT = { blob: null, content: null, etag: null, last_modified: null } as const;

/** Whether the target can count in place of a page: not if the target itself points elsewhere, or is not there. */
function isUsableTarget({ source, target }: PageSituation, { url }: PageAddress): boolean {
	if (source.type !== 'url' && !isInScope(source, url)) return false;
	return target === undefined || target.status === 'queued' || target.status === 'fetched';
}

function countsElsewhere(
	base: PageDecision,
	{ target }: PageSituation,
	{ url }: PageAddress,
	status: 'redirected' | 'duplicate',
): PageDecision {
	const isFinal =
		target !== undefined && target.status !== 'queued' && target.status !== 'gone' && target.status !== 'failed';
	const set = { ...base.set, status, target_url: url, ...NO_CONTENT };
	return { ...base, set, document: isFinal ? 'remove' : 'hand_over' };
}

/** The start stays the start. Any other redirect is a step like a link, so that a chain of them ends. */
function redirectTarget({ page }: PageSituation, address: PageAddress): PageDecision['found'][number] {
	return { ...address, kind: page.kind, depth: isStart(page) ? 0 : page.depth + 1 };
}

/** Why a redirect leads nowhere; null if it may lead somewhere. */
function brokenRedirect(
	{ source, page, target, address }: PageSituation,
	{ url, fetchUrl }: PageAddress,
): string | null {
	if (url === page.url) {
		const isLoop = fetchUrl === address || page.attempts + 1 >= MAX_ATTEMPTS;
		return isLoop ? 'The page redirects to itself.' : null;
	}
	if (target?.status === 'redirected' && target.target_url === page.url)
		return 'The page redirects to a page that redirects back.';
	// The pages that a run finds first are those to which the start redirects.
	const steps = isStart(page) ? source.found : page.depth - source.depth;
	return steps >= MAX_REDIRECTS ? 'There are too many redirects, one after the other.' : null;
}

function afterRedirect(situation: PageSituation, visit: Extract<Visit, { outcome: 'redirect' }>): PageDecision {
	const { source, page } = situation;
	const { target, httpStatus } = visit;
	const broken = brokenRedirect(situation, target);
	if (broken !== null) {
		const problem = { code: 'unreadable_file', message: broken };
		return afterFailure(situation, { httpStatus, problem, isTransient: false });
	}
	if (target.url === page.url) {
		// Another form of the same address.
		const set = { fetch_url: target.fetchUrl, attempts: page.attempts + 1 };
		return { ...answered(situation, httpStatus), set, counts: {} };
	}
	const base = answered(situation, httpStatus);
	const isRoot = page.depth === 0;
	const host = isRoot && source.type !== 'url' ? hostKey(new URL(target.url)) : null;
	const hosts = host === null || source.hosts.includes(host) ? source.hosts : [...source.hosts, host];
	const isInside = source.type === 'url' || isRoot || isInScope({ ...source, hosts }, target.url);
	if (page.status === 'removed') {
		return { ...base, found: isInside ? [redirectTarget(situation, target)] : [], host };
	}
	if (!isInside) {
		const message = `The page redirects to ${target.url}, which does not belong to the source.`;
		return afterMiss(situation, httpStatus, 'redirected', { code: 'forbidden', message }, target.url);
	}
	return {
		...countsElsewhere(base, situation, target, 'redirected'),
		found: [redirectTarget(situation, target)],
		host,
	};
}

function afterSitemap(situation: PageSituation, visit: Extract<Visit, { outcome: 'sitemap' }>): PageDecision {
	const { page } = situation;
	const { pages, sitemaps } = visit.sitemap;
	const nested = page.depth < MAX_SITEMAP_DEPTH ? sitemaps : [];
	return {
		...answered(situation, visit.httpStatus),
		found: [
			...nested.map((address) => ({ ...address, kind: 'sitemap' as const, depth: page.depth + 1 })),
			...pages.map((address) => ({ ...address, kind: 'page' as const, depth: 1 })),
		],
		counts: {},
	};
}

/** A page that the site does not have or does not show. */
function afterMiss(
	situation: PageSituation,
	http_status: number | null,
	status: 'gone' | 'blocked' | 'redirected',
	problem: PageProblem,
	target_url: string | null = null,
): PageDecision {
	const { source, page } = situation;
	const base = answered(situation, http_status);
	const counts = { fetched: 1, gone: 1 } as const;
	const endsRun = isStart(page) ? problem : null;
	if (page.status === 'removed') return { ...base, counts, endsRun };
	const misses = page.missed_run === source.run ? page.misses : page.misses + 1;
	const isRemoved = misses >= MAX_MISSES;
	return {
		...base,
		set: {
			...base.set,
			status,
			error: { ...problem, message: withConsequence(problem.message, situation, isRemoved) },
			target_url,
			misses,
			missed_run: source.run,
			...(isRemoved ? NO_CONTENT : {}),
		},
		document: isRemoved ? 'remove' : 'keep',
		counts,
		freesDuplicates: true,
		endsRun,
	};
}

/** The decision for a page that a finished run has not found. */
export function decideMissedPage(source: SourceRecord, page: SourcePageRecord): Pick<PageDecision, 'set' | 'document'> {
	const misses = page.misses + 1;
	const isRemoved = misses >= MAX_MISSES || !isInScope(source, page.url);
	const reason =
		source.type === 'sitemap'
			? 'The sitemap does not list the page any more.'
			: 'No page of the site within the limits of the source leads to the page any more.';
	const message = withConsequence(reason, { page }, isRemoved);
	const set = { status: 'gone', error: { code: 'not_found', message }, misses, missed_run: source.run } as const;
	return { set, document: isRemoved ? 'remove' : 'keep' };
}

function withConsequence(message: string, { page }: Pick<PageSituation, 'page'>, isRemoved: boolean): string {
	if (page.document_id === null || isRemoved) return message;
	return `${message} Its document is removed if the next run does not find it either.`;
}

function afterFailure(
	situation: PageSituation,
	{
		httpStatus,
		problem,
		isTransient,
	}: Pick<Extract<Visit, { outcome: 'failed' }>, 'httpStatus' | 'problem' | 'isTransient'>,
): PageDecision {
	const { source, page, formerLinks } = situation;
	const base = answered(situation, httpStatus);
	const attempts = page.attempts + 1;
	const isAnswered = !isTransient;
	if (isTransient && attempts < MAX_ATTEMPTS) {
		const due_order = (page.due_order ?? 0) + RETRY_ORDER;
		return { ...base, set: { http_status: httpStatus, error: problem, attempts, due_order }, counts: {}, isAnswered };
	}
	// It may have led to pages before; then they are not gone because nothing leads to them now.
	const hadLinks = source.type === 'website' && page.fetched_at !== null && formerLinks === null;
	const status = page.status === 'removed' ? page.status : 'failed';
	return {
		...base,
		set: { status, error: problem, http_status: httpStatus, due_order: null, attempts: 0 },
		found: linksFrom(situation, formerLinks ?? []),
		counts: { fetched: 1, failed: 1 },
		isIncomplete: hadLinks || page.kind === 'sitemap',
		endsRun: isStart(page) ? problem : null,
		isAnswered,
	};
}

/** Whether the run begins with this page. */
function isStart({ depth }: SourcePageRecord): boolean {
	return depth === 0;
}

function linksFrom({ source, page }: PageSituation, links: readonly PageAddress[]): PageDecision['found'] {
	if (source.type !== 'website' || page.depth >= source.depth) return [];
	return links
		.filter(({ url }) => isInScope(source, url) && isWorthFetching(url))
		.map((address) => ({ ...address, kind: 'page' as const, depth: page.depth + 1 }));
}
