import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentStatus } from '../../src/knowledge/index.ts';
import type { EmbeddingsFault } from '../support/model-server/embeddings.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { type KnowledgeHarness, manyChunks, openKnowledgeHarness, storesVectors } from './knowledge-harness.ts';

const TEA = 'Green tea is brewed in the kettle at eighty degrees.';
const INK = 'The blue ink dries on paper within a minute.';
/** Disables waits and retries within a request. */
const GONE = { status: 503, headers: { 'retry-after': '3600' } };

const openShop = (models: ModelServer) =>
	openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });

/** Collects the texts of all successful responses from now on; `fault` decides the outcome of each call. */
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

/** The highest count of any of these texts. */
function mostOften(texts: readonly string[], among: RegExp): number {
	const counts = new Map<string, number>();
	for (const text of texts) if (among.test(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
	return Math.max(...counts.values());
}

/** Resolves with the knowledge base when its reindex has ended. */
const over = (harness: KnowledgeHarness, base: string) =>
	until(
		'the reindex is over',
		async () => {
			const record = await harness.base(base);
			return record.rebuilding === null && record;
		},
		120_000,
	);

test('a reindex continues after each failure of its embedder and pays for no text twice', async () => {
	await using models = await ModelServer.start();
	await using harness = await openShop(models);
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'large.txt', manyChunks(600, 'amber')));
	const before = await harness.untilSettled(base);
	const paid = paidTexts(models, (call) => (call % 2 === 0 ? GONE : undefined));
	const { rebuilding } = await harness.knowledge.reindex(base).commit();
	await over(harness, base);
	const failures = harness.logLines.filter(({ msg, job }) => msg === 'job failed' && job === 'rebuild').length;
	assert.ok(failures > 8, `${failures} failures`);
	const after = await harness.untilSettled(base);
	assert.notEqual(after.generation, before.generation);
	assert.deepEqual([after.generation, presentStatus(after).problem], [rebuilding, null]);
	assert.equal(mostOften(paid, /amber/), 1);
	const { chunks, embedded, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([embedded, orphans], [chunks, 0]);
});

for (const [what, fault, sentence] of [
	['does not take the key any more', { status: 401 }, /did not accept this server's key/],
	['is not paid', { status: 402 }, /asks for payment/],
	['does not have the model for a while', { status: 404 }, /does not know the model/],
	['is down for hours', GONE, /failed with status 503/],
] as const) {
	test(`a provider that ${what} makes a reindex and new documents wait, reports the reason, and loses nothing`, async () => {
		await using models = await ModelServer.start();
		await using harness = await openShop(models);
		harness.knowledge.start();
		const base = await harness.newBase();
		await harness.untilProcessed(await harness.add(base, 'large.txt', manyChunks(300, 'amber')));
		const serving = (await harness.untilSettled(base)).generation;
		let good = 4;
		const paid = paidTexts(models, () => (good-- > 0 ? undefined : fault));
		const { rebuilding } = await harness.knowledge.reindex(base).commit();
		const failed = () => harness.logLines.filter(({ msg, job }) => msg === 'job failed' && job === 'rebuild').length;
		await until('the reindex waits', async () => (await harness.base(base)).problem !== null);
		const ink = await harness.add(base, 'ink.txt', INK);
		await until('the document waits', async () => (await harness.document(ink)).error !== null);
		await until('it has been tried more often than a failure is borne with', () => failed() > 10);
		const waiting = await harness.base(base);
		assert.deepEqual([waiting.generation, waiting.rebuilding], [serving, rebuilding]);
		const status = presentStatus(waiting);
		assert.deepEqual([status.status, status.problem?.code], ['indexing', 'model_error']);
		assert.match(status.problem?.message ?? '', sentence);
		const document = await harness.document(ink);
		assert.ok(['queued', 'processing'].includes(document.status), document.status);
		assert.equal(document.error?.code, 'model_error');

		good = Number.POSITIVE_INFINITY;
		const done = await until(
			'both are done',
			async () => {
				const record = await harness.base(base);
				return presentStatus(record).status === 'ready' && record;
			},
			120_000,
		);
		assert.equal((await harness.document(ink)).error, null);
		assert.equal(presentStatus(done).problem, null);
		assert.equal(mostOften(paid, /amber/), 1);
		const { chunks, embedded, orphans } = indexTables(harness.dataDir);
		assert.deepEqual([embedded, orphans], [chunks, 0]);
	});
}

test('a retry, a reindex and the next start try at once what waits for its embedder', async () => {
	await using models = await ModelServer.start();
	await using harness = await openKnowledgeHarness({
		embedder: 'stand-in/first',
		providers: [models.provider()],
		retryMs: 3_600_000,
	});
	harness.knowledge.start();
	const again: Array<[how: string, again: (base: string, document: string) => Promise<unknown> | undefined]> = [
		['a retry', (base, document) => harness.knowledge.documents.retry(base, document).commit()],
		['a reindex', (base) => harness.knowledge.reindex(base).commit()],
		['a start', async () => harness.knowledge.start()],
	];
	for (const [how, act] of again) {
		const base = await harness.newBase();
		models.embeddings.setDefault({ status: 401 });
		const tea = await harness.add(base, 'tea.txt', TEA);
		await until('it waits', async () => (await harness.document(tea)).error !== null);
		const { status, error } = await harness.document(tea);
		assert.deepEqual([status, error?.code], ['queued', 'model_error'], how);
		models.embeddings.setDefault(undefined);
		await act(base, tea);
		assert.equal((await harness.untilProcessed(tea)).status, 'indexed', how);
		await harness.untilSettled(base);
		assert.deepEqual(await harness.search(base, 'kettle'), [TEA], how);
	}
});

test('an outage of the provider over many restarts fails no document', async () => {
	await using models = await ModelServer.start();
	await using harness = await openShop(models);
	const base = await harness.newBase();
	models.embeddings.setDefault({ status: 401 });
	const tea = await harness.add(base, 'tea.txt', TEA);
	harness.knowledge.start();
	const failed = () => harness.logLines.filter(({ msg }) => msg === 'job failed').length;
	// Each attempt claims the job again; without this rule a job with this many claims would be given up.
	for (let times = 1; times <= 35; times++) {
		await until(`it was tried ${times} times`, () => failed() >= times);
		await harness.store.commit({ jobs: [{ op: 'make_due', kind: 'ingest' }] });
	}
	assert.equal((await harness.document(tea)).attempts, 0, 'none of it counts as its own failure');
	models.embeddings.setDefault(undefined);
	await harness.knowledge.documents.retry(base, tea).commit();
	assert.equal((await harness.untilProcessed(tea)).status, 'indexed');
});

test('a document whose embedding a failure interrupted does not pay for the same texts again', async () => {
	await using models = await ModelServer.start();
	await using harness = await openShop(models);
	harness.knowledge.start();
	const base = await harness.newBase();
	const paid = paidTexts(models, (call) => (call % 3 === 0 ? GONE : undefined));
	const document = await harness.untilProcessed(await harness.add(base, 'large.txt', manyChunks(300, 'amber')));
	assert.equal(document.status, 'indexed');
	assert.equal(mostOften(paid, /amber/), 1);
	const { chunks, embedded } = indexTables(harness.dataDir);
	assert.deepEqual([chunks, embedded], [300, 300]);
});

test('a batch that the embedder rejects does not discard the vectors of the others', async () => {
	await using models = await ModelServer.start();
	await using harness = await openShop(models);
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'large.txt', manyChunks(240, 'amber')));
	let refused = 0;
	const paid = paidTexts(models, (call) => {
		// The first of several concurrent calls.
		if (call === 1) {
			refused++;
			return { status: 400 };
		}
		return undefined;
	});
	const { rebuilding } = await harness.knowledge.reindex(base).commit();
	await over(harness, base);
	assert.equal(refused, 1);
	assert.equal((await harness.base(base)).generation, rebuilding);
	assert.equal(mostOften(paid, /amber/), 1);
});

test('vectors that a full disk does not take are paid for once, for a document and for a reindex', async () => {
	await using models = await ModelServer.start();
	await using harness = await openShop(models);
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'tea.txt', TEA));
	let rejected = 0;
	harness.isDiskFull = (commit) => storesVectors(commit) && ++rejected % 3 !== 0;
	const paid = paidTexts(models, () => undefined);
	await harness.untilProcessed(await harness.add(base, 'ink.txt', INK));
	assert.ok(rejected >= 3, `${rejected}`);
	assert.equal(mostOften(paid, /ink/), 1);
	paid.length = 0;
	await harness.knowledge.reindex(base).commit();
	await over(harness, base);
	assert.ok(rejected >= 6, `${rejected}`);
	assert.equal(mostOften(paid, /tea|ink/), 1);
	const { chunks, embedded } = indexTables(harness.dataDir);
	assert.deepEqual([embedded, presentStatus(await harness.untilSettled(base)).problem], [chunks, null]);
});
