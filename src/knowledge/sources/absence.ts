import type { SourcePageRecord, SourceRecord } from '../../store/index.ts';
import { answered, isStart, linksFrom, NO_CONTENT, type PageDecision, type PageSituation } from './decision.ts';
import type { PageProblem, Visit } from './fetch-page.ts';
import { isInScope } from './scope.ts';

/** Runs in a row that do not find a page before its document is removed. */
const MAX_MISSES = 2;
/** Attempts at a page in one run. */
export const MAX_ATTEMPTS = 3;
/** A page or sitemap that fails longer than this does not keep the pages to which it led. */
const MAX_FAILING_MS = 7 * 24 * 3_600_000;
/** Further attempts come after all other pages of the run. */
const RETRY_ORDER = 1_000;

/** A page that the site does not have or does not show. */
export function afterMiss(
	situation: PageSituation,
	http_status: number | null,
	status: 'gone' | 'blocked' | 'redirected',
	problem: PageProblem,
	target_url: string | null = null,
): PageDecision {
	const { source, page } = situation;
	const base = answered(situation, http_status);
	// Without a status it was not requested.
	const fetched: PageDecision['counts'] = http_status === null ? {} : { fetched: 1 };
	const counts: PageDecision['counts'] = status === 'gone' ? { ...fetched, gone: 1 } : fetched;
	const endsRun = isStart(page) ? problem : null;
	if (page.status === 'removed') return { ...base, counts, endsRun };
	const misses = missesOf(situation);
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
		// Its pages are not gone because it is missing once.
		isIncomplete: page.kind === 'sitemap' && !isRemoved,
		endsRun,
	};
}

/**
 * The decision for a page with a document whose place another page seems to take. For a bad hour a site may answer each request in
 * the same way, so this is a miss: the document stays, and is removed if the next run gets the same answer.
 * @returns null if the other page takes its place now
 */
export function afterFirstReplacement(
	situation: PageSituation,
	base: PageDecision,
	status: 'duplicate' | 'redirected',
	{ url, message }: { url: string; message: string },
): PageDecision | null {
	const { source, page } = situation;
	const misses = missesOf(situation);
	if (page.document_id === null || misses >= MAX_MISSES) return null;
	const error = {
		code: 'not_found',
		message: `${message} Its former document is removed if the next run gets the same answer.`,
	};
	return {
		...base,
		set: { ...base.set, status, error, target_url: url, misses, missed_run: source.run },
		freesDuplicates: page.status !== status,
	};
}

/** The misses of a page in a row, this run included. A run counts one miss. */
function missesOf({ source, page }: Pick<PageSituation, 'source' | 'page'>): number {
	return page.missed_run === source.run ? page.misses : page.misses + 1;
}

/** The decision for a page that a finished run has not found. */
export function decideMissedPage(source: SourceRecord, page: SourcePageRecord): Pick<PageDecision, 'set' | 'document'> {
	const misses = page.misses + 1;
	const isRemoved = misses >= MAX_MISSES || (source.type !== 'url' && !isInScope(source, page.url));
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

/** The decision for a page without a usable answer: another attempt, or the next run. */
export function afterFailure(
	situation: PageSituation,
	{
		httpStatus,
		problem,
		isTransient,
	}: Pick<Extract<Visit, { outcome: 'failed' }>, 'httpStatus' | 'problem' | 'isTransient'>,
): PageDecision {
	const { source, page, formerLinks, now } = situation;
	const base = answered(situation, httpStatus);
	const attempts = page.attempts + 1;
	const isAnswered = !isTransient;
	if (isTransient && attempts < MAX_ATTEMPTS) {
		const due_order = (page.due_order ?? 0) + RETRY_ORDER;
		return { ...base, set: { http_status: httpStatus, error: problem, attempts, due_order }, counts: {}, isAnswered };
	}
	// It led to pages before. They are not gone because nothing leads to them now, unless it fails for long.
	const isRecent = page.fetched_at !== null && now - page.fetched_at < MAX_FAILING_MS;
	const hadLinks = source.type === 'website' && isRecent && formerLinks === null;
	// The pages of a new sitemap may have been in another one before.
	const isRecentSitemap = page.kind === 'sitemap' && now - (page.fetched_at ?? page.created_at) < MAX_FAILING_MS;
	const status = page.status === 'removed' ? page.status : 'failed';
	return {
		...base,
		set: { status, error: problem, http_status: httpStatus, due_order: null, attempts: 0 },
		found: linksFrom(situation, formerLinks ?? []),
		counts: { fetched: 1, failed: 1 },
		isIncomplete: hadLinks || isRecentSitemap,
		endsRun: isStart(page) ? problem : null,
		isAnswered,
	};
}
