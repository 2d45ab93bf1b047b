import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { FoundPage, SourcePageRecord, Store, Write } from '../../../src/store/index.ts';
import { document, knowledgeBase, NOON, source, sourcePage } from '../samples.ts';
import { job } from './jobs.ts';

type Page = ReturnType<typeof sourcePage>;

/** The pages of a source: what a run finds, and in which order they are due. */
export function sourceContract(opened: () => Store): void {
	test('a run finds each address once, and sitemaps and pages near the start are due first', async () => {
		const store = opened();
		const { id, find } = await started(store);
		await find([
			page('/deep', { depth: 2 }),
			page('/near?sort=name'),
			page('/near', { fetch_url: 'https://shop.example/near#top' }),
			page('/near', { depth: 4 }),
			page('/sitemap.xml', { kind: 'sitemap', depth: 9 }),
		]);
		assert.equal((await store.get('sources', id))?.found, 3);
		const found: Array<[string, number | null, string | null]> = [];
		for (let next = await store.sources.nextPage(id); next; next = await store.sources.nextPage(id)) {
			found.push([next.url, next.due_order, next.fetch_url]);
			await patch(store, next.id, { due_order: null });
		}
		assert.deepEqual(found, [
			['/sitemap.xml', -1, null],
			['/near', 2, 'https://shop.example/near#top'],
			['/near?sort=name', 3, null],
			['/deep', 4, null],
		]);
		await find([page('/near'), page('/new')]);
		assert.equal((await store.sources.nextPage(id))?.url, '/new', 'what the run has found is not due again');
		const { id: _, ...rest } = (await store.sources.pageByUrl(id, '/new')) ?? assert.fail();
		const made = {
			...{ version: 1, source_id: id, kind: 'page', url: '/new', fetch_url: null, depth: 1, status: 'queued' },
			...{ error: null, http_status: null, target_url: null, document_id: null, blob: null, content: null },
			...{ etag: null, last_modified: null, misses: 0, attempts: 0, due_order: 2, seen_run: 3, missed_run: 0 },
			...{ fetched_at: null, changed_at: null, created_at: NOON + 1, updated_at: NOON + 1 },
		};
		assert.deepEqual({ ...rest }, made);
	});

	test('a later run finds stored pages again, and replaces how those are fetched that were lost', async () => {
		const store = opened();
		const known = (path: string, status: Page['status']) =>
			sourcePage({ url: path, status, seen_run: 2, attempts: 2, fetch_url: 'former', depth: 7 });
		const pages = [known('/fetched', 'fetched'), known('/failed', 'failed'), known('/gone', 'gone')];
		const { id, find } = await started(store, pages);
		await find(pages.map(({ url }) => page(url, { fetch_url: 'now' })));
		const stored = await Promise.all(pages.map(({ url }) => store.sources.pageByUrl(id, url)));
		assert.deepEqual(
			stored.map((one) => one && [one.fetch_url, one.depth, one.attempts, one.seen_run, one.due_order, one.updated_at]),
			[
				['former', 1, 0, 3, 2, NOON + 1],
				['now', 1, 0, 3, 2, NOON + 1],
				['now', 1, 0, 3, 2, NOON + 1],
			],
		);
		assert.deepEqual(
			stored.map((one) => one?.version),
			[2, 2, 2],
		);
	});

	test('a run finds no more pages and sitemaps than its limits, which removed pages do not count against', async () => {
		const store = opened();
		const pages = [
			sourcePage({ url: '/old', seen_run: 2 }),
			sourcePage({ url: '/removed', status: 'removed', seen_run: 2 }),
		];
		const { id, find } = await started(store, pages);
		const limits = { max_pages: 2, max_sitemaps: 1 };
		await find([page('/a'), page('/b'), page('/s', { kind: 'sitemap' }), page('/t', { kind: 'sitemap' })], limits);
		const urls = async () => {
			const stored = await store.list('source_pages', { where: { source_id: id }, order: 'asc', limit: 99 });
			return stored.map(({ url }) => url).toSorted();
		};
		assert.deepEqual(await urls(), ['/a', '/old', '/removed', '/s']);
		await find([page('/b'), page('/old')], limits);
		assert.deepEqual(await urls(), ['/a', '/old', '/removed', '/s']);
		assert.equal((await store.get('sources', id))?.found, 2, '/a and /old');
		await find([page('/removed')], limits);
		assert.equal((await store.sources.pageByUrl(id, '/removed'))?.seen_run, 2);
	});

	test('adds the duplicates of a page to the frontier again, and empties the frontier', async () => {
		const store = opened();
		const duplicate = (url: string, more: Partial<Page> = {}) =>
			sourcePage({ url, status: 'duplicate', target_url: '/first', attempts: 1, ...more });
		const pages = [duplicate('/copy'), duplicate('/other', { target_url: '/x' }), duplicate('/old', { seen_run: 2 })];
		const { id } = await started(store, pages);
		await store.commit({ write: [{ op: 'sources.find_duplicates', source_id: id, run: 3, target_url: '/first' }] });
		const next = await store.sources.nextPage(id);
		assert.deepEqual([next?.url, next?.attempts, next?.due_order, next?.version], ['/copy', 0, 2, 2]);
		await patch(store, next?.id ?? '', { due_order: null });
		assert.equal(await store.sources.nextPage(id), undefined);
		await patch(store, next?.id ?? '', { due_order: 1 });
		await store.commit({ write: [{ op: 'sources.clear_frontier', source_id: id }] });
		assert.equal(await store.sources.nextPage(id), undefined);
	});

	test('removes sitemaps that a run has not found, and a source with its pages', async () => {
		const store = opened();
		const of = (url: string, kind: Page['kind'], seen_run: number) => sourcePage({ url, kind, seen_run });
		const { id } = await started(store, [of('/s', 'sitemap', 3), of('/t', 'sitemap', 2), of('/p', 'page', 2)]);
		const there = async () =>
			(await Promise.all(['/s', '/t', '/p'].map((url) => store.sources.pageByUrl(id, url)))).map(Boolean);
		await store.commit({ write: [{ op: 'sources.remove_sitemaps', source_id: id, run: 3 }] });
		assert.deepEqual(await there(), [true, false, true]);
		await store.commit({ write: [{ op: 'sources.erase', source_id: id }] });
		assert.deepEqual(await there(), [false, false, false]);
		assert.equal(await store.get('sources', id), undefined);
	});

	test('erases a knowledge base with its sources, their pages and the jobs about them', async () => {
		const store = opened();
		const record = knowledgeBase();
		const kind = newId('job');
		const [doomed, kept] = [
			await started(store, [sourcePage({ url: '/p' })], { knowledge_base_id: record.id }),
			await started(store, [sourcePage({ url: '/p' })]),
		];
		await store.commit({
			write: [{ op: 'insert', kind: 'knowledge_bases', record }],
			jobs: [doomed, kept].map(({ id }) => ({ op: 'enqueue', job: job({ kind, ref: id }) })),
		});
		await store.commit({ write: [{ op: 'erase_knowledge_base', id: record.id }] });
		assert.equal(await store.get('knowledge_bases', record.id), undefined);
		for (const { id } of [doomed, kept]) {
			const isKept = id === kept.id;
			assert.equal((await store.get('sources', id)) !== undefined, isKept);
			assert.equal((await store.sources.pageByUrl(id, '/p')) !== undefined, isKept);
		}
		assert.deepEqual(
			(await store.jobs.claim(kind, 9, 60_000)).map(({ ref }) => ref),
			[kept.id],
		);
	});

	test('finds pages by their document and their content, and those that a run has missed', async () => {
		const store = opened();
		const content = newId('request');
		const documents = ['indexed', 'error', 'indexed'].map((status) => document({ status } as never));
		const at = (n: number, more: Partial<Page>) =>
			sourcePage({ url: `/${n}`, document_id: documents[n]?.id ?? null, content, status: 'fetched', ...more });
		const pages = [
			at(0, { seen_run: 2 }),
			at(1, { misses: 1, seen_run: 2, missed_run: 3 }),
			at(2, { content: 'other' }),
			at(3, { status: 'removed', seen_run: 2 }),
		];
		const { id } = await started(store, pages);
		const record = (n: number) => ({ ...(pages[n] as Page), source_id: id, version: 1 });
		await store.commit({
			write: documents.map((one) => ({ op: 'insert', kind: 'documents', record: { ...one, source_id: id } })),
		});
		assert.equal((await store.sources.pageOfDocument(documents[1]?.id ?? ''))?.id, pages[1]?.id);
		assert.equal((await store.sources.pageWithContent(record(3), content))?.id, pages[0]?.id);
		assert.equal((await store.sources.pageWithContent(record(0), content))?.id, pages[3]?.id);
		assert.equal(await store.sources.pageWithContent(record(2), 'other'), undefined);
		assert.deepEqual(
			(await store.sources.missedPages(id, 3, 9)).map((one) => one.id),
			[pages[0]?.id],
		);
		assert.deepEqual({ ...(await store.sources.documentCounts(id)) }, { total: 3, indexed: 2 });
	});
}

/** A source in its third run, with these pages. */
async function started(store: Store, pages: readonly Page[] = [], more: Partial<ReturnType<typeof source>> = {}) {
	const record = source(more);
	const source_id = record.id;
	const write: Write[] = [
		{ op: 'insert', kind: 'sources', record },
		...pages.map((one) => ({ op: 'insert', kind: 'source_pages', record: { ...one, source_id } }) as const),
	];
	assert.equal((await store.commit({ write })).outcome, 'committed');
	return {
		id: source_id,
		find: async (found: FoundPage[], limits = { max_pages: 99, max_sitemaps: 9 }) => {
			const find = { op: 'sources.find_pages', source_id, run: 3, pages: found, ...limits, at: NOON + 1 } as const;
			assert.equal((await store.commit({ write: [find] })).outcome, 'committed');
		},
	};
}

function page(url: string, more: Partial<FoundPage> = {}): FoundPage {
	return { kind: 'page', url, fetch_url: null, depth: 1, ...more };
}

async function patch(store: Store, id: string, set: Partial<SourcePageRecord>): Promise<void> {
	await store.commit({ write: [{ op: 'patch', kind: 'source_pages', id, set }] });
}
