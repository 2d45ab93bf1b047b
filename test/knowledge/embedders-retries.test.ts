import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentStatus } from '../../src/knowledge/index.ts';
import type { EmbeddingsFault } from '../support/model-server/embeddings.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { type KnowledgeHarness, manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

const TEA = 'Green tea is brewed in the kettle at eighty degrees.';
const INK = 'The blue ink dries on paper within a minute.';
/** Not to be waited for, and not to be tried again within the same request. */
const GONE = { status: 503, headers: { 'retry-after': '3600' } };

const openShop = (models: ModelServer) =>
	openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });

/** The texts of all answers in good order from now on, while `fault` says what becomes of each call. */
function paidTexts(models: ModelServer, fault: (call: number) => EmbeddingsFault | undefined): string[] {
	const paid: string[] = [];
	let calls = 0;
	models.embeddings.setDefault(({ body }) => {
		const answer = fault(++calls);
		if (answer === undefined) paid.push(...body.input);
		return answer;
	});
	return paid;
}

/** How often each of these texts is among them, at most. */
function mostOften(texts: readonly string[], among: RegExp): number {
	const counts = new Map<string, number>();
	for (const text of texts) if (among.test(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
	return Math.max(...counts.values());
}

/** The knowledge base once its reindex is over. */
const over = (room: KnowledgeHarness, base: string) =>
	until(
		'the reindex is over',
		async () => {
			const record = await room.base(base);
			return record.rebuilding === null && record;
		},
		120_000,
	);

test('a reindex whose embedder fails now and then goes on from failure to failure, and pays for no text twice', async () => {
	await using models = await ModelServer.start();
	await using room = await openShop(models);
	room.knowledge.start();
	const base = await room.newBase();
	await room.untilProcessed(await room.add(base, 'large.txt', manyChunks(1_200, 'amber')));
	const before = await room.untilSettled(base);
	const paid = paidTexts(models, (call) => (call % 3 === 0 ? GONE : undefined));
	const { rebuilding } = await room.knowledge.reindex(base);
	await over(room, base);
	const failures = room.logLines.filter(({ msg, job }) => msg === 'job failed' && job === 'rebuild').length;
	assert.ok(failures > 8, `${failures} failures`);
	const after = await room.untilSettled(base);
	assert.notEqual(after.generation, before.generation);
	assert.deepEqual([after.generation, presentStatus(after).problem], [rebuilding, null]);
	assert.equal(mostOften(paid, /amber/), 1);
	const { chunks, embedded, orphans } = indexTables(room.dataDir);
	assert.deepEqual([embedded, orphans], [chunks, 0]);
});

for (const [what, fault, sentence] of [
	['does not take the key any more', { status: 401 }, /did not accept this server's key/],
	['is not paid', { status: 402 }, /asks for payment/],
	['does not have the model for a while', { status: 404 }, /does not know the model/],
	['is down for hours', GONE, /failed with status 503/],
] as const) {
	test(`a provider that ${what} keeps a reindex and new documents waiting, says why, and loses nothing`, async () => {
		await using models = await ModelServer.start();
		await using room = await openShop(models);
		room.knowledge.start();
		const base = await room.newBase();
		await room.untilProcessed(await room.add(base, 'large.txt', manyChunks(300, 'amber')));
		const serving = (await room.untilSettled(base)).generation;
		let good = 4;
		const paid = paidTexts(models, () => (good-- > 0 ? undefined : fault));
		const { rebuilding } = await room.knowledge.reindex(base);
		const failed = () => room.logLines.filter(({ msg, job }) => msg === 'job failed' && job === 'rebuild').length;
		await until('the reindex waits', async () => (await room.base(base)).problem !== null);
		const ink = await room.add(base, 'ink.txt', INK);
		await until('the document waits', async () => (await room.document(ink)).error !== null);
		await until('it has been tried more often than a failure is borne with', () => failed() > 10);
		const waiting = await room.base(base);
		assert.deepEqual([waiting.generation, waiting.rebuilding], [serving, rebuilding]);
		const status = presentStatus(waiting);
		assert.deepEqual([status.status, status.problem?.code], ['indexing', 'model_error']);
		assert.match(status.problem?.message ?? '', sentence);
		const document = await room.document(ink);
		assert.ok(['queued', 'processing'].includes(document.status), document.status);
		assert.equal(document.error?.code, 'model_error');

		good = Number.POSITIVE_INFINITY;
		const done = await until(
			'both are done',
			async () => {
				const record = await room.base(base);
				return presentStatus(record).status === 'ready' && record;
			},
			120_000,
		);
		assert.equal((await room.document(ink)).error, null);
		assert.equal(presentStatus(done).problem, null);
		assert.equal(mostOften(paid, /amber/), 1);
		const { chunks, embedded, orphans } = indexTables(room.dataDir);
		assert.deepEqual([embedded, orphans], [chunks, 0]);
	});
}

test('what waits for its embedder is tried at once by a retry, by a reindex and by the next start', async () => {
	await using models = await ModelServer.start();
	await using room = await openKnowledgeHarness({
		embedder: 'stand-in/first',
		providers: [models.provider()],
		retryMs: 3_600_000,
	});
	room.knowledge.start();
	const again: Array<[how: string, again: (base: string, document: string) => Promise<unknown> | undefined]> = [
		['a retry', (base, document) => room.knowledge.documents.retry(base, document)],
		['a reindex', (base) => room.knowledge.reindex(base)],
		['a start', async () => room.knowledge.start()],
	];
	for (const [how, act] of again) {
		const base = await room.newBase();
		models.embeddings.setDefault({ status: 401 });
		const tea = await room.add(base, 'tea.txt', TEA);
		await until('it waits', async () => (await room.document(tea)).error !== null);
		const { status, error } = await room.document(tea);
		assert.deepEqual([status, error?.code], ['queued', 'model_error'], how);
		models.embeddings.setDefault(undefined);
		await act(base, tea);
		assert.equal((await room.untilProcessed(tea)).status, 'indexed', how);
		await room.untilSettled(base);
		assert.deepEqual(await room.search(base, 'kettle'), [TEA], how);
	}
});

test('a provider that is gone for longer than restarts are borne with costs nothing', async () => {
	await using models = await ModelServer.start();
	await using room = await openShop(models);
	const base = await room.newBase();
	models.embeddings.setDefault({ status: 401 });
	const tea = await room.add(base, 'tea.txt', TEA);
	room.knowledge.start();
	const failed = () => room.logLines.filter(({ msg }) => msg === 'job failed').length;
	// Each attempt takes the job once more; a job that is taken this often without an end would be given up.
	for (let times = 1; times <= 35; times++) {
		await until(`it was tried ${times} times`, () => failed() >= times);
		await room.store.commit({ jobs: [{ op: 'hasten', kind: 'ingest' }] });
	}
	assert.equal((await room.document(tea)).attempts, 0, 'none of it counts as its own failure');
	models.embeddings.setDefault(undefined);
	await room.knowledge.documents.retry(base, tea);
	assert.equal((await room.untilProcessed(tea)).status, 'indexed');
});

test('of a document whose embedding was cut off by a failure, what was paid for is not paid for again', async () => {
	await using models = await ModelServer.start();
	await using room = await openShop(models);
	room.knowledge.start();
	const base = await room.newBase();
	const paid = paidTexts(models, (call) => (call % 5 === 0 ? GONE : undefined));
	const document = await room.untilProcessed(await room.add(base, 'large.txt', manyChunks(600, 'amber')));
	assert.equal(document.status, 'indexed');
	assert.equal(mostOften(paid, /amber/), 1);
	const { chunks, embedded } = indexTables(room.dataDir);
	assert.deepEqual([chunks, embedded], [600, 600]);
});

test('one batch that the embedder refuses does not take with it what the others brought', async () => {
	await using models = await ModelServer.start();
	await using room = await openShop(models);
	room.knowledge.start();
	const base = await room.newBase();
	await room.untilProcessed(await room.add(base, 'large.txt', manyChunks(240, 'amber')));
	let refused = 0;
	const paid = paidTexts(models, (call) => {
		// The first of several that are under way at the same time.
		if (call === 1) {
			refused++;
			return { status: 400 };
		}
		return undefined;
	});
	const { rebuilding } = await room.knowledge.reindex(base);
	await over(room, base);
	assert.equal(refused, 1);
	assert.equal((await room.base(base)).generation, rebuilding);
	assert.equal(mostOften(paid, /amber/), 1);
});
