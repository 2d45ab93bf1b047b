import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { newId, sleep } from '../../src/base/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { assistant, event } from './samples.ts';

suite('commits while connections to PostgreSQL die', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	test('a commit whose answer is lost is carried out once', async () => {
		const url = await server.database('lost_answer');
		await using proxy = await startCuttableProxy(server.socket);
		await using store = await openPostgresStore({ url: `postgres://parley@127.0.0.1:${proxy.port}/lost_answer` });
		await using blocker = await connect(url);
		const stream = newId('workspace');
		const record = assistant();
		// The connection dies while the commit waits for a lock. The server may carry it out, or notice the end: either is once.
		await blocker.client.query('BEGIN; UPDATE parley.log_end SET seq = seq');
		const commit = store.commit({ write: [{ op: 'insert', kind: 'assistants', record }], events: [event(stream)] });
		await until('the commit waits', () => blocker.isWaitedFor());
		proxy.cut();
		proxy.restore();
		await blocker.client.query('COMMIT');
		const outcome = await commit;
		const logged = await store.events.after(stream, 0, 10);
		assert.deepEqual(outcome, { outcome: 'committed', seqs: logged.map(({ seq }) => seq) });
		assert.equal(logged.length, 1);
		assert.equal((await store.get('assistants', record.id))?.version, 1);
	});

	test('no commit is lost or doubled while connections are cut again and again', async () => {
		await server.database('cuts');
		await using proxy = await startCuttableProxy(server.socket);
		await using store = await openPostgresStore({ url: `postgres://parley@127.0.0.1:${proxy.port}/cuts` });
		const seqs = await commitWhile(store, async (committed) => {
			for (let cut = 0; cut < 15; cut++) {
				await committed(2);
				await sleep(Math.random() * 40);
				proxy.cut();
				proxy.restore();
			}
		});
		await requireAll(await server.database('cuts'), seqs);
	});

	for (const how of ['crash', 'stop'] as const) {
		test(`no acknowledged commit is lost or doubled by a ${how} of PostgreSQL`, async () => {
			const url = await server.database(`restart_${how}`);
			await using store = await openPostgresStore({ url });
			const seqs = await commitWhile(store, async (committed) => {
				await committed(20);
				await server.restart(how);
			});
			await requireAll(url, seqs);
		});
	}
});

/** A plain connection that holds locks. */
async function connect(url: string) {
	const client = new pg.Client(url);
	await client.connect();
	const watcher = new pg.Client(url);
	await watcher.connect();
	return {
		client,
		isWaitedFor: async () => {
			const { rows } = await watcher.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
			return rows.length > 0;
		},
		async [Symbol.asyncDispose]() {
			await client.end();
			await watcher.end();
		},
	};
}

/**
 * Commits events one after the other in several lanes until the disturbance has ended. The disturbance is given a function that
 * waits for a number of further commits.
 * @returns the seqs of all, by their ids
 */
async function commitWhile(
	store: Store,
	disturb: (committed: (count: number) => Promise<void>) => Promise<void>,
): Promise<Map<string, number>> {
	const seqs = new Map<string, number>();
	let isOver = false;
	const lane = async () => {
		do {
			const one = event('ws_disturbed');
			const outcome = await store.commit({ events: [one] });
			assert.equal(outcome.outcome, 'committed');
			if (outcome.outcome === 'committed') seqs.set(one.id, outcome.seqs[0] as number);
		} while (!isOver);
	};
	const lanes = Array.from({ length: 8 }, lane);
	await disturb(async (count) => {
		const wanted = seqs.size + count;
		await until('further commits are acknowledged', () => seqs.size >= wanted);
	});
	isOver = true;
	await Promise.all(lanes);
	return seqs;
}

/** The log has these events, each once, under the numbers that were acknowledged, without a gap. */
async function requireAll(url: string, seqs: Map<string, number>): Promise<void> {
	const client = new pg.Client(url);
	await client.connect();
	const { rows } = await client.query<{ id: string; seq: string }>('SELECT id, seq FROM parley.events ORDER BY seq');
	await client.end();
	assert.ok(rows.length >= 20);
	assert.deepEqual(
		rows.map(({ id, seq }) => [id, Number(seq)]),
		[...seqs].sort(([, one], [, other]) => one - other),
	);
	assert.deepEqual(
		rows.map(({ seq }) => Number(seq)),
		rows.map((_, index) => index + 1),
	);
}
