import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { SearchJob } from '../../../src/contract/index.ts';
import { workerEntry } from '../../../src/pool/index.ts';
import { kinds } from '../../../src/store/columns/columns.ts';
import {
	FileBlobs,
	importIntoPostgres,
	type ListPosition,
	openPostgresStore,
	openSqliteStore,
	type Readers,
} from '../../../src/store/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { addTalks, talk } from '../contract/talks.ts';
import { BothStores } from '../search/both-stores.ts';
import {
	BASIS,
	changeDatabase,
	DIMENSIONS,
	EMBEDDER,
	type FullDatabase,
	fillDataFolder,
	GENERATION,
	WORKSPACE,
} from './full-database.ts';
import { HeldImport, spawnImport } from './held-import.ts';

suite('an embedded database is copied into PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	const filledFolder = async (t: TestContext, talks?: number): Promise<{ dataDir: string; full: FullDatabase }> => {
		const dataDir = await mkdtemp(join(tmpdir(), 'parley-import-'));
		t.after(() => rm(dataDir, { recursive: true, force: true }));
		return { dataDir, full: await fillDataFolder(dataDir, talks) };
	};
	const run = (dataDir: string, url: string, signal = new AbortController().signal) =>
		importIntoPostgres({ dataDir, url, signal, now: () => Date.now(), onCopied: () => {} });
	const copyWhole = async (dataDir: string, url: string) => {
		const outcome = await run(dataDir, url);
		assert.ok('parts' in outcome);
		assert.deepEqual(
			outcome.parts.filter(({ source, target }) => JSON.stringify(source) !== JSON.stringify(target)),
			[],
		);
		assert.ok(outcome.isEqual);
		return outcome.parts;
	};

	test('with everything in it, and both read alike', async (t) => {
		const { dataDir, full } = await filledFolder(t);
		const url = await server.database('whole');
		const parts = await copyWhole(dataDir, url);
		assert.deepEqual(
			parts.filter(({ source }) => source.rows === 0).map(({ part }) => part),
			[],
			'each part has rows',
		);
		await using both = await BothStores.open(url, dataDir);
		const same = (what: string, read: (store: Readers) => Promise<unknown>) =>
			both.assertSame(({ store }) => read(store), what);
		for (const kind of kinds()) {
			// NUL, which PostgreSQL cannot store, is replaced.
			await same(kind, async (store) => replaceNul(await listAll(store, kind)));
		}
		await same('events of the workspace', (store) => store.events.after(WORKSPACE, 0, 1_000));
		await same('events of a conversation', (store) => store.endUsers.eventsAbout(full.conversation, 0, 100));
		await same('the end of the log', (store) => store.events.lastSeq());
		await same('API keys', (store) => store.access.apiKeyByHash(full.keyHash));
		await same('sessions', (store) => store.access.sessionByHash(full.sessionHash));
		await same('pending deliveries', (store) => store.deliveries.due(full.webhook, Date.now(), 50));
		await same('failures', (store) => store.deliveries.failingSince(full.webhook));
		const request = { scope: `${WORKSPACE} POST /x`, body_hash: 'hash' };
		await same('receipts', (store) => store.idempotency.storedResponse({ ...request, key: 'once' }));
		await same('pending receipts', (store) => store.idempotency.storedResponse({ ...request, key: 'pending' }));
		await same('costs', (store) =>
			store.spending.list({ workspaceId: WORKSPACE, from: 0, to: Date.now(), groupBy: 'day', limit: 10 }),
		);
		await same('generations', (store) => store.searchIndex.generation(GENERATION));
		await same('the basis that was opened last', (store) => store.searchIndex.openedBasis(GENERATION));
		await same('samples', (store) => store.searchIndex.sampleOf(BASIS));
		await same('texts', (store) => store.searchIndex.textsAfter(GENERATION, 0, 1_000));
		await same('unanswered questions', (store) => store.statistics.ungrouped(100));
		await same('figures', async (store) => {
			const query = { workspaceId: WORKSPACE, series: 'day', from: 0, to: Date.now() * 2 } as const;
			const sums: unknown[] = [];
			for await (const figures of store.statistics.figures(query)) sums.push(...figures);
			return sums.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
		});
		for (const name of full.files) await same(`file ${name}`, (store) => blobOf(store, name));
		await same('the inbox', (store) => store.inbox.list(INBOX, READER, undefined, 100));
		for (const [text, found] of [
			['koln', true],
			['荷物', true],
			['parcel 3', true],
			['nothing', false],
		] as const) {
			const terms = [{ text, isPrefix: false }];
			const search = (store: Readers) => store.inbox.search(INBOX, terms, READER, undefined, 100);
			await same(`search for ${text}`, search);
			assert.equal((await search(both.stores[1].store)).rows.length > 0, found, text);
		}
	});

	test('and what follows continues: numbers of events and chunks, jobs, rankings', async (t) => {
		const { dataDir, full } = await filledFolder(t);
		const url = await server.database('goes_on');
		await copyWhole(dataDir, url);
		await using both = await BothStores.open(url, dataDir);
		for (const { store } of both.stores) {
			const next = talk(WORKSPACE, Date.now());
			await addTalks(store, [next]);
			const seqs = (await store.endUsers.eventsAbout(next.id, 0, 10)).map(({ seq }) => seq);
			assert.equal(seqs[0], full.lastSeq + 1, 'no number is used twice');
			const claimed = await store.jobs.claim('ingest', 5, 60_000);
			assert.deepEqual(
				claimed.map(({ id, attempts }) => [id, attempts]),
				[[full.job, 2]],
			);
		}
		const queries = ['refund order', 'Lieferung Paket', '配送', 'UK parcel', 'warranty'];
		const jobs = queries.flatMap(searchJobs);
		assert.ok((await both.assertSameHits(jobs)) > 10, 'searches');
		await both.write({ op: 'index.remove_document', generation: GENERATION, document_id: 'doc_1' });
		await both.write({
			...{ op: 'index.add_document', generation: GENERATION, document_id: 'doc_new', title: 'New', url: null },
			...{ language: 'en', basis: null, vectors: null },
			chunks: [{ text: 'Refund', heading_path: [], page: null, title_terms: 'new', body_terms: 'refund' }],
		});
		assert.ok((await both.assertSameHits(jobs)) > 10, 'searches after changes');
		await both.assertSame(({ store }) => store.searchIndex.textsAfter(GENERATION, 0, 1_000), 'numbers of chunks');
	});

	test('although it is killed in the middle of portions, and its connection is cut', async (t) => {
		const { dataDir } = await filledFolder(t, 1_200);
		const url = await server.database('killed');
		await using held = await HeldImport.prepare(url);
		const killAt = async (part: string, copied: number) => {
			await held.holdAt(part, copied);
			const process = spawnImport(dataDir, url);
			await Promise.race([held.waitUntilHeld(), process.exited.then(({ output }) => assert.fail(output))]);
			assert.equal((await process.kill()).signal, 'SIGKILL');
			await held.waitUntilGone();
			const counts = await held.countsOf(part);
			assert.equal(counts.stored, counts.copied, 'the portion is not there, nor its progress');
			assert.ok(counts.stored < copied, part);
			await assert.rejects(openPostgresStore({ url }), /has not ended\. Run "parley migrate" again/);
		};
		await killAt('users', 1);
		await killAt('messages', 1_001);
		await killAt('events', 2_500);
		await killAt('vectors', 1);
		await held.holdAt('files', 1);
		const cut = assert.rejects(run(dataDir, url), /terminat/);
		await held.cut();
		await cut;
		await killAt('searchable_messages', 1_000);
		await held.holdNowhere();
		await copyWhole(dataDir, url);
		assert.ok('completedAt' in (await run(dataDir, url)), 'the next run has nothing to do');
		await using store = await openPostgresStore({ url });
		assert.equal((await store.list('messages', { where: {}, order: 'asc', limit: 1 })).length, 1);
	});

	test('and a difference is found, and no server starts', async (t) => {
		const { dataDir, full } = await filledFolder(t, 3);
		const url = await server.database('different');
		await using held = await HeldImport.prepare(url);
		await held.holdAt('searchable_messages', 1);
		const cut = assert.rejects(run(dataDir, url), /terminat/);
		await held.cut();
		await cut;
		await held.holdNowhere();
		await held.query("UPDATE parley.users SET name = name || '!'");
		await held.query(
			'UPDATE parley.vectors SET embedding = embedding || $$x$$ WHERE chunk = (SELECT min(chunk) FROM parley.vectors)',
		);
		await held.query('DELETE FROM parley.figures WHERE ctid = (SELECT min(ctid) FROM parley.figures)');
		await held.query(
			`UPDATE parley.blob_chunks SET bytes = $$x$$ WHERE content = (SELECT content FROM parley.blobs WHERE hash = '${full.files[1]}')`,
		);
		const outcome = await run(dataDir, url);
		assert.ok('parts' in outcome && !outcome.isEqual);
		const different = outcome.parts.filter(({ source, target }) => source.checksum !== target.checksum);
		assert.deepEqual(
			different.map(({ part }) => part),
			['users', 'figures', 'vectors', 'files'],
		);
		await assert.rejects(openPostgresStore({ url }), /has not ended/);
		await assert.rejects(openPostgresStore({ url, role: 'tool' }), /has not ended/);
	});

	test('but not from a folder that a server uses, nor into a database with data or with servers', async (t) => {
		const { dataDir } = await filledFolder(t, 3);
		const url = await server.database('refused');
		{
			await using _store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
			await assert.rejects(run(dataDir, url), /^AppError: Another Parley is running on /);
		}
		{
			await using store = await openPostgresStore({ url });
			await assert.rejects(run(dataDir, url), /A node runs on the PostgreSQL database/);
			await addTalks(store, [talk(WORKSPACE, Date.now())]);
		}
		await assert.rejects(run(dataDir, url), /has data of its own/);
	});

	test('but not a part of it after a server has used the source again', async (t) => {
		const { dataDir } = await filledFolder(t, 3);
		const url = await server.database('used_again');
		const stopped = new AbortController();
		const options = { dataDir, url, signal: stopped.signal, now: () => Date.now() };
		const copying = importIntoPostgres({ ...options, onCopied: () => stopped.abort(new Error('stopped')) });
		await assert.rejects(copying, /stopped/);
		await using _ = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		await _[Symbol.asyncDispose]();
		await assert.rejects(run(dataDir, url), /a server has used this one since the copy began/);
	});

	test('but not with missing or damaged files, nor from another schema', async (t) => {
		const { dataDir, full } = await filledFolder(t, 3);
		const file = new FileBlobs(join(dataDir, 'blobs')).path(full.files[1] as string);
		await writeFile(file, 'another');
		await assert.rejects(run(dataDir, await server.database('damaged')), /The file .* is damaged/);
		await rm(file);
		await assert.rejects(run(dataDir, await server.database('missing')), /The file of the document .* is missing/);
		changeDatabase(dataDir, 'PRAGMA user_version = 3');
		await assert.rejects(run(dataDir, await server.database('older')), /has schema version 3, this command knows/);
	});
});

/** Searches by keywords, and by keywords and vectors. */
function searchJobs(query: string): Array<Omit<SearchJob, 'database'>> {
	const wordsOnly = { embedder: EMBEDDER, vector: new Float32Array(1) };
	const question = {
		embedder: EMBEDDER,
		vector: Float32Array.from({ length: DIMENSIONS }, (_, n) => Math.sin(n + query.length)),
	};
	const target = { knowledge_base_id: 'kb_full', generation: GENERATION, basis: BASIS, semantic_weight: 0.5 };
	return [
		{ query, top_k: 10, min_score: 0, for_prompt: false, targets: [{ ...target, hybrid: false, question: wordsOnly }] },
		{ query, top_k: 10, min_score: 0, for_prompt: true, targets: [{ ...target, hybrid: true, question }] },
	];
}

const INBOX = { workspaceId: WORKSPACE, status: 'active' } as const;
const READER = { id: 'user_1', readBefore: 0 };

async function listAll(store: Readers, kind: ReturnType<typeof kinds>[number]): Promise<unknown[]> {
	const all: unknown[] = [];
	for (let after: ListPosition | undefined; ; ) {
		const page = await store.list(kind, { where: {}, after, order: 'asc', limit: 200 });
		all.push(...page);
		const last = page.at(-1);
		if (last === undefined) return all;
		after = { at: last.created_at, id: last.id };
	}
}

function replaceNul(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value).replaceAll('\\u0000', '\ufffd'));
}

async function blobOf(store: Readers, name: string): Promise<string | undefined> {
	return (await (store as unknown as { blobs: FileBlobs }).blobs.read(name))?.toString('base64');
}
