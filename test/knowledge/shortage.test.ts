import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { AppError } from '../../src/base/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { queueTraining } from '../../src/knowledge/training/training-policy.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { openKnowledgeHarness } from './knowledge-harness.ts';

/** The errors of the pool and the store while the system lacks a resource. */
const failing = (code: string) =>
	new AppError('unavailable', 'Reading the file failed.', {
		cause: Object.assign(new Error(`spawn ${code}`), { code }),
	});

for (const [code, sentence] of [
	['EMFILE', /no free file descriptors/],
	['ENOMEM', /too little memory/],
	['ENOSPC', /disk of the server is full/],
	['SQLITE_FULL', /disk of the server is full/],
] as const) {
	test(`a document waits without limit for the end of a shortage (${code}) and reports it`, async () => {
		await using harness = await openKnowledgeHarness();
		const { knowledge, pool } = harness;
		knowledge.start();
		const base = await harness.newBase();
		let failures = 0;
		let lasts = true;
		pool.parseFailure = () => {
			if (!lasts) return undefined;
			failures++;
			return failing(code);
		};
		const id = await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
		await until('it was tried more than three times', () => failures > 4);
		const waiting = await until('it waits', async () => {
			const document = await harness.document(id);
			return document.status === 'queued' && document;
		});
		assert.equal(waiting.error?.code, 'unavailable');
		assert.match(waiting.error?.message ?? '', sentence);
		assert.equal(waiting.attempts, 0, 'the failures are not those of the document');
		assert.match(presentStatus(await harness.base(base)).problem?.message ?? '', sentence);
		lasts = false;
		const { status, error } = await harness.untilProcessed(id);
		assert.deepEqual([status, error], ['indexed', null]);
		assert.equal(presentStatus(await harness.base(base)).problem, null);
	});
}

test('a rebuild waits for the end of a shortage, keeps its progress, and fails no document', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'tea.txt', 'Green tea is brewed in the kettle at eighty degrees.');
	await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
	const before = await harness.untilSettled(base);
	for (const place of ['parseFailure', 'trainFailure'] as const) {
		let failures = 0;
		pool[place] = () => {
			failures++;
			return failing('ENOMEM');
		};
		const { rebuilding } = await knowledge.reindex(base).commit();
		await until('it was tried more often than other failures are', () => failures > 10);
		const waiting = await until('the status says why', async () => {
			const record = await harness.base(base);
			return record.problem !== null && record;
		});
		assert.match(waiting.problem?.message ?? '', /too little memory/);
		assert.equal(waiting.rebuilding, rebuilding);
		pool[place] = () => undefined;
		const after = await harness.untilSettled(base);
		assert.notEqual(after.generation, before.generation);
		assert.deepEqual([after.generation, after.documents_failed, after.problem], [rebuilding, 0, null]);
	}
});

test('retries a document and a rebuild within a minute after a shortage', async (t) => {
	await using harness = await openKnowledgeHarness({ retryMs: 1_000_000 });
	const { knowledge, pool } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'tea.txt', 'Green tea is brewed in the kettle at eighty degrees.');
	await harness.untilSettled(base);
	const database = new Database(join(harness.dataDir, 'parley.db'), { readonly: true });
	t.after(() => database.close());
	const due = database.prepare('SELECT due_at FROM jobs WHERE kind = ? AND due_at > 0').pluck();
	pool.parseFailure = () => failing('ENOSPC');
	const begun = Date.now();
	await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
	await knowledge.reindex(base).commit();
	for (const kind of ['ingest', 'rebuild']) {
		const at = await until(`the job "${kind}" waits`, () => due.get(kind) as number | undefined);
		assert.ok(at > begun && at <= Date.now() + 60_000, kind);
	}
});

test('a training whose vectors a full disk does not take is repeated, says so, and leaves the former basis serving', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(
		await harness.add(base, 'tea.txt', 'Green tea is brewed in the kettle at eighty degrees.'),
	);
	await harness.untilTrained(base);
	const before = await store.searchIndex.servingGeneration(base);
	let rejected = 0;
	harness.isDiskFull = ({ write = [] }) => {
		const isFull = write.some(({ op }) => op === 'index.add_vectors');
		if (isFull) rejected++;
		return isFull;
	};
	await harness.patch(base, { training_asked_at: 1, tuned_on: 0 }, [queueTraining(base, 0)]);
	await until('it was tried again', () => rejected > 2);
	const failing = await until('the status says why', async () => {
		const record = await harness.base(base);
		return record.problem !== null && record;
	});
	assert.match(presentStatus(failing).problem?.message ?? '', /disk of the server is full/);
	assert.equal(failing.training_failures, 0, 'the training is not at fault');
	assert.equal((await store.searchIndex.servingGeneration(base))?.basis, before?.basis);
	assert.equal((await harness.search(base, 'tea')).length, 1);
	harness.isDiskFull = () => false;
	assert.equal(presentStatus(await harness.untilTrained(base)).problem, null);
	assert.equal(indexTables(harness.dataDir).bases.length, 1);
});
