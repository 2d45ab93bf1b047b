import type { SourcePageRecord } from '../../store/index.ts';
import { afterFailure, afterFirstReplacement, afterMiss, MAX_ATTEMPTS } from './absence.ts';
import type { PageAddress } from './canonical-url.ts';
import { answered, isStart, linksFrom, NO_CONTENT, type PageDecision, type PageSituation } from './decision.ts';
import type { Visit } from './fetch-page.ts';
import type { PageFacts } from './page-reader.ts';
import { hostKey, isInScope, matchesPatterns } from './scope.ts';

/** Redirects, one after the other. */
const MAX_REDIRECTS = 10;
/** Redirects that do not say that the page has moved (RFC 9110, 15.4). */
const TEMPORARY_REDIRECTS: ReadonlySet<number | null> = new Set([302, 303, 307]);
/** An index of sitemaps may list indexes. */
const MAX_SITEMAP_DEPTH = 3;

/** The address that counts in place of the visited page; null if the page itself counts. */
export function targetOf(page: Pick<SourcePageRecord, 'url'>, visit: Visit): PageAddress | null {
	if (visit.outcome === 'redirect') return visit.target;
	const canonical = factsOf(visit)?.canonical ?? null;
	if (canonical === null || canonical.url === page.url) return null;
	// A common mistake: every page of a site names the start page.
	return isStartPage(canonical.url) && !isStartPage(page.url) ? null : canonical;
}

function factsOf(visit: Visit): PageFacts | null {
	if (visit.outcome === 'not_modified') return visit.facts;
	return visit.outcome === 'content' ? visit.page.facts : null;
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
			return afterNotModified(situation, visit);
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

function afterContent(situation: PageSituation, visit: Extract<Visit, { outcome: 'content' }>): PageDecision {
	const { source, page, hasDocument, twin } = situation;
	const { content, blob, etag, lastModified } = visit.page;
	const base = answered(situation, visit.httpStatus);
	const found = foundIn(situation, visit);
	if (page.status === 'removed') return { ...base, found };
	if (source.type !== 'url') {
		const other = afterExclusion(situation, visit, base, found) ?? afterCanonical(situation, visit, base);
		if (other) return other;
	}
	const isSameContent = hasDocument && page.content === content;
	if (twin) {
		// Without its former content nothing is lost.
		const message = `The page has the content of ${twin.url}.`;
		const kept = isSameContent ? null : afterFirstReplacement(situation, base, 'duplicate', { url: twin.url, message });
		return kept ? { ...kept, found } : asCopy(base, situation, twin, found);
	}
	const isSameBytes = page.blob === blob.hash;
	if (isSameContent) {
		// Validators of other bytes would vouch for bytes that are not stored.
		const validators = isSameBytes ? { etag, last_modified: lastModified } : { etag: null, last_modified: null };
		return { ...base, set: { ...base.set, ...validators }, found, counts: { fetched: 1, unchanged: 1 } };
	}
	const stored = { blob: blob.hash, content, etag, last_modified: lastModified };
	return { ...base, set: { ...base.set, ...stored }, document: 'store', found, freesDuplicates: page.content !== null };
}

/** The content is known, but a page that counts in its place may be there by now. */
function afterNotModified(situation: PageSituation, visit: Extract<Visit, { outcome: 'not_modified' }>): PageDecision {
	const base = answered(situation, visit.httpStatus);
	const found = foundIn(situation, visit);
	if (situation.source.type !== 'url' && situation.page.status !== 'removed') {
		const other = afterExclusion(situation, visit, base, found) ?? afterCanonical(situation, visit, base);
		if (other) return other;
	}
	// Another page has become a copy while this one was missing.
	if (situation.twin) return asCopy(base, situation, situation.twin, found);
	return { ...base, found, counts: { fetched: 1, unchanged: 1 } };
}

/** The decision for a page that its site or the patterns exclude; null if nothing excludes it. */
function afterExclusion(
	situation: PageSituation,
	visit: Visit,
	base: PageDecision,
	found: PageDecision['found'],
): PageDecision | null {
	const { source, page } = situation;
	if (factsOf(visit)?.noindex) {
		const problem = { code: 'forbidden', message: 'The page asks not to be indexed (robots: noindex).' };
		return { ...afterMiss(situation, visit.httpStatus, 'blocked', problem), found, endsRun: null };
	}
	if (matchesPatterns(source, new URL(page.url))) return null;
	const problem = {
		code: 'forbidden',
		message: 'The patterns of the source exclude the page. Only its links are followed.',
	};
	return { ...base, set: { ...base.set, status: 'blocked', error: problem }, document: 'remove', found };
}

/** The decision for a page with the content of another page of the source. */
function asCopy(
	base: PageDecision,
	{ page }: PageSituation,
	{ url }: { url: string },
	found: PageDecision['found'],
): PageDecision {
	const set = { ...base.set, status: 'duplicate' as const, target_url: url, ...NO_CONTENT };
	const freesDuplicates = page.status !== 'duplicate' || page.document_id !== null;
	return { ...base, set, document: 'remove', found, freesDuplicates };
}

/** The decision for a page that names another page of the source as canonical; null if the page itself counts. */
function afterCanonical(situation: PageSituation, visit: Visit, base: PageDecision): PageDecision | null {
	const { page } = situation;
	const canonical = targetOf(page, visit);
	if (canonical === null || !isUsableTarget(situation, canonical)) return null;
	return { ...countsElsewhere(base, situation, canonical, 'duplicate'), found: foundIn(situation, visit) };
}

/**
 * Whether the canonical page counts in place of a page: not if it points elsewhere itself, or is not there. A page that has counted
 * itself does so until the canonical page is there.
 */
function isUsableTarget({ source, page, target }: PageSituation, { url }: PageAddress): boolean {
	if (!isInScope(source, url)) return false;
	const isThere = target?.status === 'fetched' || target?.status === 'removed';
	return isThere || (page.document_id === null && isUnknown(target));
}

function isUnknown(target: PageSituation['target']): boolean {
	return target === undefined || target.status === 'queued';
}

/** The links of a page, and the page that it names as canonical if that is not known to be there. */
function foundIn(situation: PageSituation, visit: Visit): PageDecision['found'] {
	const { source, page, target } = situation;
	const links = linksFrom(situation, factsOf(visit)?.links ?? []);
	const canonical = source.type === 'url' || page.status === 'removed' ? null : targetOf(page, visit);
	if (canonical === null || !isInScope(source, canonical.url)) return links;
	if (!isUnknown(target) && target?.status !== 'gone' && target?.status !== 'failed') return links;
	return [...links, { ...canonical, kind: 'page', depth: Math.max(1, page.depth) }];
}

function countsElsewhere(
	base: PageDecision,
	{ page, target }: PageSituation,
	{ url }: PageAddress,
	status: 'redirected' | 'duplicate',
): PageDecision {
	const isWithout = isUnknown(target) || target?.status === 'gone' || target?.status === 'failed';
	const isCopyOfThis = target?.status === 'duplicate' && target.target_url === page.url;
	const isFinal = !isWithout && !isCopyOfThis;
	const set = { ...base.set, status, target_url: url, ...NO_CONTENT };
	// Pages that named this page as canonical count themselves: the canonical page of a canonical page does not count.
	const freesDuplicates = page.status !== status || page.document_id !== null;
	return { ...base, set, document: isFinal ? 'remove' : 'hand_over', freesDuplicates };
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
	// Patterns are about pages. A sitemap may be anywhere on the host.
	const isInside =
		source.type === 'url' ||
		isRoot ||
		(page.kind === 'sitemap'
			? hosts.includes(hostKey(new URL(target.url)))
			: isInScope({ ...source, hosts }, target.url));
	if (page.status === 'removed') {
		return { ...base, found: isInside ? [redirectTarget(situation, target)] : [], host };
	}
	if (!isInside) {
		const message = `The page redirects to ${target.url}, which does not belong to the source.`;
		return afterMiss(situation, httpStatus, 'redirected', { code: 'forbidden', message }, target.url);
	}
	const message = `The page redirects to ${target.url} for the time being.`;
	const kept = TEMPORARY_REDIRECTS.has(httpStatus)
		? afterFirstReplacement(situation, base, 'redirected', { url: target.url, message })
		: null;
	return {
		...(kept ?? countsElsewhere(base, situation, target, 'redirected')),
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
