import assert from 'node:assert/strict';
import test from 'node:test';
import { decideMissedPage } from '../../../src/knowledge/sources/absence.ts';
import { canonicalUrl, type PageAddress } from '../../../src/knowledge/sources/canonical-url.ts';
import type { PageSituation } from '../../../src/knowledge/sources/decision.ts';
import type { Visit } from '../../../src/knowledge/sources/fetch-page.ts';
import { decidePage } from '../../../src/knowledge/sources/page-decision.ts';
import type { PageFacts } from '../../../src/knowledge/sources/page-reader.ts';
import type { SourcePageRecord, SourceRecord } from '../../../src/store/index.ts';
import { NOON, source, sourcePage } from '../../store/samples.ts';

const ADDRESS = 'https://shop.example/help/returns';

const address = (link: string) => canonicalUrl(link, ADDRESS) as PageAddress;

/** A page in its fifth run, with a document unless something else is said. */
function situation(
	page: Partial<SourcePageRecord> = {},
	more: Partial<Omit<PageSituation, 'page' | 'source'>> & { source?: Partial<SourceRecord> } = {},
): PageSituation {
	const fetched = {
		status: 'fetched',
		error: null,
		document_id: 'doc_1',
		blob: 'b1',
		content: 'c1',
		due_order: 4,
	} as const;
	const { source: settings, ...rest } = more;
	return {
		source: { ...source({ include: [], run: 5, ...settings }), version: 1 },
		page: { ...sourcePage({ url: ADDRESS, fetch_url: null, depth: 2, ...fetched, ...page }), version: 1 },
		address: ADDRESS,
		hasDocument: page.document_id !== null,
		target: undefined,
		twin: undefined,
		formerLinks: null,
		now: NOON,
		...rest,
	};
}

function content(facts: Partial<PageFacts> = {}, hash = 'b2', fingerprint = 'c2'): Visit {
	const known = { links: [], canonical: null, noindex: false, nofollow: false, content: fingerprint };
	const blob = { hash, size: 9, head: Buffer.alloc(0), persist: async () => {}, discard: async () => {} };
	const page = { blob, contentType: 'text/html', fileName: null, facts: { ...known, ...facts }, content: fingerprint };
	return { outcome: 'content', httpStatus: 200, page: { ...page, etag: '"2"', lastModified: null } };
}

const missing: Visit = {
	outcome: 'missing',
	httpStatus: 404,
	problem: { code: 'not_found', message: 'The page answered with status 404.' },
};
const failure = (isTransient: boolean): Visit => ({
	outcome: 'failed',
	httpStatus: 503,
	isTransient,
	problem: { code: 'unreadable_file', message: 'The page answered with status 503.' },
});

test('new content is stored, and pages that counted as this one are visited again', () => {
	const { set, document, freesDuplicates, counts } = decidePage(situation(), content());
	assert.deepEqual([set.status, set.blob, set.content, set.etag, set.due_order], ['fetched', 'b2', 'c2', '"2"', null]);
	assert.deepEqual([document, freesDuplicates, counts], ['store', true, { fetched: 1 }]);
});

test('the same content keeps the stored bytes, and no validators of other bytes', () => {
	const other = decidePage(situation(), content({}, 'b9', 'c1'));
	assert.deepEqual(
		[other.document, other.set.etag, other.set.blob, other.counts.unchanged],
		['keep', null, undefined, 1],
	);
	assert.equal(decidePage(situation(), content({}, 'b1', 'c1')).set.etag, '"2"');
	const without = decidePage(situation({ document_id: null }), content({}, 'b1', 'c1'));
	assert.equal(without.document, 'store', 'a page without a document gets one');
});

test('a page with the content of another page gives up its document, also after a 304', () => {
	const twin = { url: 'https://shop.example/copy' };
	const visits: Visit[] = [content({}, 'b1', 'c1'), { outcome: 'not_modified', httpStatus: 304, facts: null }];
	for (const visit of visits) {
		const { set, document } = decidePage(situation({}, { twin }), visit);
		assert.deepEqual([set.status, set.target_url, document], ['duplicate', twin.url, 'remove'], visit.outcome);
	}
});

test('a page whose answer becomes a copy of another page keeps its document until the next run gets the same answer', () => {
	const twin = { url: 'https://shop.example/copy' };
	const once = decidePage(situation({}, { twin }), content());
	assert.deepEqual(
		[once.set.status, once.set.target_url, once.set.misses, once.document, once.set.content],
		['duplicate', twin.url, 1, 'keep', undefined],
	);
	assert.match(once.set.error?.message ?? '', /content of https:.*removed if the next run gets the same answer/);
	const missed = { status: 'duplicate', misses: 1 } as const;
	const again = decidePage(situation({ ...missed, missed_run: 5 }, { twin }), content());
	assert.deepEqual([again.set.misses, again.document], [1, 'keep'], 'a run counts one miss');
	const twice = decidePage(situation({ ...missed, missed_run: 4 }, { twin }), content());
	assert.deepEqual([twice.document, twice.set.content, twice.freesDuplicates], ['remove', null, true]);
	const back = decidePage(situation({ ...missed, missed_run: 4 }), content());
	assert.deepEqual([back.set.status, back.set.misses, back.document], ['fetched', 0, 'store']);
	assert.equal(decidePage(situation({ document_id: null }, { twin }), content()).document, 'remove');
});

test('a page that redirects for the time being keeps its document until the next run gets the same answer', () => {
	const to = (httpStatus: number): Visit => ({ outcome: 'redirect', httpStatus, target: address('/help/new') });
	for (const status of [302, 303, 307]) {
		const once = decidePage(situation(), to(status));
		assert.deepEqual(
			[once.set.status, once.set.misses, once.document, once.found.map(({ url }) => url)],
			['redirected', 1, 'keep', ['https://shop.example/help/new']],
			`${status}`,
		);
		const page = { status: 'redirected', misses: 1, missed_run: 4 } as const;
		assert.equal(decidePage(situation(page), to(status)).document, 'hand_over');
		const copy = { target: { status: 'duplicate', target_url: ADDRESS } } as const;
		assert.equal(decidePage(situation(page, copy), to(status)).document, 'hand_over', 'the target was its copy');
	}
	for (const status of [301, 308]) assert.equal(decidePage(situation(), to(status)).document, 'hand_over', `${status}`);
	assert.equal(decidePage(situation({ document_id: null }), to(302)).set.misses, 0);
});

test('a page that is missing twice in a row loses its document, and a page that answers in between does not', () => {
	const once = decidePage(situation(), missing);
	assert.deepEqual([once.set.status, once.set.misses, once.document], ['gone', 1, 'keep']);
	const twice = decidePage(situation({ misses: 1, missed_run: 4 }), missing);
	assert.deepEqual([twice.set.misses, twice.document, twice.set.content], [2, 'remove', null]);
	const again = decidePage(situation({ misses: 1, missed_run: 5 }), missing);
	assert.deepEqual([again.set.misses, again.document], [1, 'keep'], 'a run counts one miss');
	assert.equal(decidePage(situation({ misses: 1, missed_run: 4 }), content()).set.misses, 0);
	assert.equal(decidePage(situation({ misses: 1 }), failure(true)).set.misses, undefined, 'a failure counts nothing');
});

test('a page that begins to ask not to be indexed is removed like a page that is gone, and its links are followed', () => {
	const noindex = content({ noindex: true, links: [address('/help/a')] });
	const once = decidePage(situation(), noindex);
	assert.deepEqual(
		[once.set.status, once.document, once.found.length, once.counts],
		['blocked', 'keep', 1, { fetched: 1 }],
	);
	assert.equal(decidePage(situation({ misses: 1, missed_run: 4 }), noindex).document, 'remove');
	assert.equal(
		decidePage(situation({}, { source: { type: 'url' } }), noindex).document,
		'store',
		'a person named this page',
	);
});

test('the patterns and noindex apply to a page that has not changed, too', () => {
	const unmodified = (noindex: boolean): Visit => {
		const facts = { links: [address('/help/a')], canonical: null, noindex, nofollow: false, content: 'c1' };
		return { outcome: 'not_modified', httpStatus: 304, facts };
	};
	const hidden = decidePage(situation({ misses: 1, missed_run: 4 }), unmodified(true));
	assert.deepEqual([hidden.set.status, hidden.document, hidden.found.length], ['blocked', 'remove', 1]);
	const excluded = decidePage(situation({}, { source: { exclude: ['/help/returns'] } }), unmodified(false));
	assert.deepEqual([excluded.set.status, excluded.document, excluded.found.length], ['blocked', 'remove', 1]);
	assert.equal(decidePage(situation({}, { source: { type: 'url' } }), unmodified(true)).document, 'keep');
});

test('an unreachable page is tried three times, after all others, and then fails without a miss', () => {
	const first = decidePage(situation(), failure(true));
	assert.deepEqual([first.set.attempts, first.set.status, first.isAnswered], [1, undefined, false]);
	assert.ok((first.set.due_order ?? 0) > 1_000);
	const last = decidePage(situation({ attempts: 2 }), failure(true));
	assert.deepEqual(
		[last.set.status, last.set.due_order, last.document, last.counts],
		['failed', null, 'keep', { fetched: 1, failed: 1 }],
	);
	assert.equal(decidePage(situation(), failure(false)).set.status, 'failed', 'another attempt would give the same');
});

test('a failed page does not make the pages gone that it led to', () => {
	const known = decidePage(situation({}, { formerLinks: [address('/help/a')] }), failure(false));
	assert.deepEqual([known.found.map(({ url }) => url), known.isIncomplete], [['https://shop.example/help/a'], false]);
	assert.equal(decidePage(situation(), failure(false)).isIncomplete, true, 'its links are not known any more');
	const long = situation({ fetched_at: NOON - 8 * 86_400_000 });
	assert.equal(decidePage(long, failure(false)).isIncomplete, false, 'it has failed for a week');
	assert.equal(
		decidePage(situation({ fetched_at: null }), failure(false)).isIncomplete,
		false,
		'it never led anywhere',
	);
});

test('a sitemap that fails keeps the pages that it listed, for a week', () => {
	const incompleteAfter = (days: number, page: Partial<SourcePageRecord>) => {
		const sitemap = situation({ kind: 'sitemap', depth: 1, document_id: null, ...page });
		return decidePage({ ...sitemap, now: NOON + days * 86_400_000 }, failure(false)).isIncomplete;
	};
	for (const page of [{ fetched_at: NOON }, { fetched_at: null, created_at: NOON }])
		assert.deepEqual([incompleteAfter(6, page), incompleteAfter(8, page)], [true, false]);
});

test('a sitemap may be redirected outside of the patterns, and its pages stay when it is missing once', () => {
	const sitemap = { kind: 'sitemap', depth: 1, document_id: null } as const;
	const of = { source: { type: 'sitemap' as const, include: ['/help/*'] } };
	const to = (link: string): Visit => ({ outcome: 'redirect', httpStatus: 301, target: address(link) });
	const moved = decidePage(situation(sitemap, of), to('/maps/1.xml'));
	assert.deepEqual([moved.set.status, moved.found.map(({ kind }) => kind)], ['redirected', ['sitemap']]);
	assert.equal(decidePage(situation(sitemap, of), to('https://other.example/1.xml')).isIncomplete, true);
	assert.equal(decidePage(situation(sitemap, of), missing).isIncomplete, true);
	assert.equal(decidePage(situation({ ...sitemap, misses: 1, missed_run: 4 }, of), missing).isIncomplete, false);
});

test('a redirect hands the document over, unless its target counts already or is outside', () => {
	const to = (link: string): Visit => ({ outcome: 'redirect', httpStatus: 301, target: address(link) });
	const moved = decidePage(situation(), to('/help/new'));
	assert.deepEqual(
		[moved.set.status, moved.set.target_url, moved.document],
		['redirected', 'https://shop.example/help/new', 'hand_over'],
	);
	assert.deepEqual(
		moved.found.map(({ url, depth }) => [url, depth]),
		[['https://shop.example/help/new', 3]],
	);
	const known = decidePage(situation({}, { target: { status: 'fetched', target_url: null } }), to('/help/new'));
	assert.equal(known.document, 'remove');
	const outside = decidePage(situation(), to('https://other.example/'));
	assert.deepEqual(
		[outside.set.status, outside.set.misses, outside.document, outside.found],
		['redirected', 1, 'keep', []],
	);
	assert.match(outside.set.error?.message ?? '', /does not belong to the source/);
	const start = decidePage(situation({ depth: 0 }), to('https://www.other.example/'));
	assert.deepEqual(
		[start.host, start.found.length],
		['other.example', 1],
		'the start leads the source to another host',
	);
});

test('the canonical address counts if it is there, and the start page is no canonical address of all', () => {
	const canonical = (link: string) => content({ canonical: address(link) });
	const fetched = { target: { status: 'fetched', target_url: null } } as const;
	const counts = decidePage(situation({}, fetched), canonical('/help/new'));
	assert.deepEqual([counts.set.status, counts.document], ['duplicate', 'remove']);
	assert.equal(decidePage(situation({}, fetched), canonical('/')).set.status, 'fetched');
	const deleted = { target: { status: 'removed', target_url: null } } as const;
	assert.equal(decidePage(situation({}, deleted), canonical('/help/new')).document, 'remove', 'a request deleted it');
	for (const status of ['gone', 'failed', 'duplicate', 'redirected', 'blocked'] as const) {
		const target = { status, target_url: null };
		assert.equal(decidePage(situation({}, { target }), canonical('/help/new')).document, 'store', status);
	}
	assert.equal(decidePage(situation({}, fetched), canonical('https://other.example/')).document, 'store');
	const facts = { links: [], canonical: address('/help/new'), noindex: false, nofollow: false, content: 'c1' };
	const unmodified = decidePage(situation({}, fetched), { outcome: 'not_modified', httpStatus: 304, facts });
	assert.deepEqual([unmodified.set.status, unmodified.document], ['duplicate', 'remove'], 'also if it is there by now');
});

test('a canonical address that is not known yet is visited, and a page with a document counts until it is there', () => {
	const visit = content({ canonical: address('/help/new') });
	const found = (decision: ReturnType<typeof decidePage>) => decision.found.map(({ url }) => url);
	const first = decidePage(situation({ document_id: null }), visit);
	assert.deepEqual([first.set.status, found(first)], ['duplicate', ['https://shop.example/help/new']]);
	const later = decidePage(situation(), visit);
	assert.deepEqual([later.set.status, found(later)], ['fetched', ['https://shop.example/help/new']]);
	const gone = decidePage(situation({}, { target: { status: 'gone', target_url: null } }), visit);
	assert.deepEqual([gone.set.status, found(gone)], ['fetched', ['https://shop.example/help/new']], 'it may come back');
});

test('a page whose document a request deleted gets none again', () => {
	const visits: Visit[] = [
		content({ links: [address('/help/a')] }),
		missing,
		failure(false),
		{ outcome: 'redirect', httpStatus: 301, target: address('/b') },
	];
	for (const visit of visits) {
		const { set, document } = decidePage(situation({ status: 'removed', document_id: null }), visit);
		assert.deepEqual([set.status, document], ['removed', 'keep'], visit.outcome);
	}
	assert.equal(decidePage(situation({ status: 'removed', document_id: null }), visits[0] as Visit).found.length, 1);
});

test('without its start a run ends', () => {
	assert.equal(decidePage(situation({ depth: 0 }), missing).endsRun?.code, 'not_found');
	assert.equal(decidePage(situation({ depth: 0 }), failure(false)).endsRun?.code, 'unreadable_file');
	assert.equal(decidePage(situation({ depth: 0 }), failure(true)).endsRun, null, 'another attempt comes first');
	assert.equal(decidePage(situation(), missing).endsRun, null);
});

test('a page that a run does not find goes after two runs, or at once if the patterns exclude it', () => {
	const { source: of, page } = situation();
	assert.equal(decideMissedPage(of, page).document, 'keep');
	assert.equal(decideMissedPage(of, { ...page, misses: 1 }).document, 'remove');
	assert.equal(decideMissedPage({ ...of, exclude: ['/help/*'] }, page).document, 'remove');
});
