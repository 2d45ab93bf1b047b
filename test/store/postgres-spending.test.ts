import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { createLog, newId } from '../../src/base/index.ts';
import type { Spender, SpendingLimit, Store, Write } from '../../src/store/index.ts';
import { CommitQueue } from '../../src/store/postgres/commit-queue.ts';
import { connectionOptions } from '../../src/store/postgres/connection.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { WriterSession } from '../../src/store/postgres/writer-session.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const LAST_OF_MONTH = Date.UTC(2026, 10, 30);
const OF_BOTH_DAYS = { from: LAST_OF_MONTH - 29 * DAY, to: LAST_OF_MONTH + DAY };

function spenderOf(workspace_id = newId('workspace')): Spender {
	const deployment_id = newId('deployment');
	return { workspace_id, deployment_id, visitor_id: `${deployment_id}:v`, model: 'openai/a' };
}

function reserve(spender: Spender, day: number, limits: SpendingLimit[]): Write {
	const message_id = newId('message');
	return {
		...{ op: 'spending.reserve', message_id, conversation_id: newId('conversation') },
		...{ spender, day, amount: 10, limits },
	};
}

suite('costs on PostgreSQL with several nodes', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let url: string;
	let store: Store;
	let observer: pg.Client;
	before(async () => {
		server = await startPostgres();
		url = await server.database('spending');
		store = await openPostgresStore({ url });
		observer = await connect();
	});
	after(async () => {
		await observer.end();
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});
	const connect = async () => {
		const client = new pg.Client(connectionOptions(url));
		await client.connect();
		return client;
	};
	/** Resolves once a connection waits for another one. */
	const isBlocked = (client: pg.Client) =>
		until('the second connection waits for the first', async () => {
			const { rows } = await observer.query(
				'SELECT cardinality(pg_blocking_pids(pid)) > 0 AS blocked FROM pg_stat_activity WHERE pid = $1',
				[(client as unknown as { processID: number }).processID],
			);
			return rows[0].blocked === true;
		});
	const apply = (client: pg.Client, write: Write) =>
		client.query('SELECT apply_spending($1, $2)', [JSON.stringify(write), store.fence.epoch]);
	const sumsOf = ({ workspace_id }: Spender) =>
		store.spending.sumsOf(workspace_id, 'workspace', workspace_id, OF_BOTH_DAYS.from, OF_BOTH_DAYS.to);

	for (const [name, dimension, days] of [
		['on one day', 'visitor', [LAST_OF_MONTH, LAST_OF_MONTH]],
		['before and after midnight', 'workspace', [LAST_OF_MONTH, LAST_OF_MONTH + DAY]],
	] as const) {
		test(`of two reservations at once, ${name}, the second sees the first`, async () => {
			const spender = spenderOf();
			const limits: SpendingLimit[] = [{ dimension, amount: 15, ...OF_BOTH_DAYS }];
			const [first, second] = [await connect(), await connect()];
			await first.query('BEGIN');
			await apply(first, reserve(spender, days[0], limits));
			const refused = assert.rejects(apply(second, reserve(spender, days[1], limits)), {
				code: 'PL001',
				detail: JSON.stringify({ outcome: 'over_budget', exceeded: [dimension] }).replace(/([:,])/g, '$1 '),
			});
			await isBlocked(second);
			await first.query('COMMIT');
			await refused;
			assert.deepEqual(await sumsOf(spender), { spent: 0, reserved: 10 });
			await Promise.all([first.end(), second.end()]);
		});
	}

	test('a reservation that is undone frees its amount for another one, which waits', async () => {
		const spender = spenderOf();
		const limits: SpendingLimit[] = [{ dimension: 'deployment', amount: 15, ...OF_BOTH_DAYS }];
		const [first, second] = [await connect(), await connect()];
		await first.query('BEGIN');
		await apply(first, reserve(spender, LAST_OF_MONTH, limits));
		const made = apply(second, reserve(spender, LAST_OF_MONTH, limits));
		await isBlocked(second);
		await first.query('ROLLBACK');
		await made;
		assert.deepEqual(await sumsOf(spender), { spent: 0, reserved: 10 });
		await Promise.all([first.end(), second.end()]);
	});

	test('a node that starts settles the reservations of nodes that have ended, not those of nodes that are alive', async () => {
		const ended = await openPostgresStore({ url, firstLeaseMs: 3_600_000 });
		const alive = await openPostgresStore({ url, firstLeaseMs: 3_600_000 });
		const [ofEnded, ofAlive] = [spenderOf(), spenderOf()];
		await ended.commit({ write: [reserve(ofEnded, LAST_OF_MONTH, [])] });
		await alive.commit({ write: [reserve(ofAlive, LAST_OF_MONTH, [])] });
		await ended[Symbol.asyncDispose]();
		const started = await openPostgresStore({ url, firstLeaseMs: 3_600_000 });
		await started.commit({ write: [{ op: 'spending.settle_abandoned' }] });
		assert.deepEqual(await sumsOf(ofEnded), { spent: 10, reserved: 0 });
		assert.deepEqual(await sumsOf(ofAlive), { spent: 0, reserved: 10 });
		await Promise.all([alive[Symbol.asyncDispose](), started[Symbol.asyncDispose]()]);
	});

	test('the erasure of the last conversation waits for a notice to its visitor', async () => {
		const visitor_id = `${newId('deployment')}:v`;
		const [first, second] = [await connect(), await connect()];
		await first.query(
			`INSERT INTO conversations (id, version, workspace_id, deployment_id, assistant_id, channel, status, metadata, handled_by,
			 message_count, created_at, updated_at, visitor_id) VALUES ($1, 1, 'w', 'd', 'a', 'api', 'open', '{}', 'assistant', 0, 0, 0, $1)`,
			[visitor_id],
		);
		await first.query('BEGIN');
		await apply(first, { op: 'spending.require_visitor', visitor_id });
		const erased = second.query('DELETE FROM conversations WHERE visitor_id = $1', [visitor_id]);
		await isBlocked(second);
		await first.query('COMMIT');
		await erased;
		await assert.rejects(apply(first, { op: 'spending.require_visitor', visitor_id }), { code: 'PL001' });
		await Promise.all([first.end(), second.end()]);
	});

	test('batches of two nodes with the same workspaces in other orders neither exceed a budget nor deadlock', async () => {
		const workspaces = Array.from({ length: 6 }, () => newId('workspace'));
		const limits: SpendingLimit[] = [{ dimension: 'workspace', amount: 125, ...OF_BOTH_DAYS }];
		const writerLimits = { statementMs: 30_000, lockMs: 15_000, silentMs: 35_000, waitMs: 60_000 };
		const nodes = ['a', 'b'].map(
			(id) => new WriterSession({ url, id, epoch: store.fence.epoch, log: createLog('silent'), limits: writerLimits }),
		);
		const commits = nodes.flatMap((session, node) => {
			const queue = new CommitQueue(session, { onCommitted() {}, onBatch() {} });
			return Array.from({ length: 240 }, async (_, n) => {
				const position = node === 0 ? n : 239 - n;
				const spender = spenderOf(workspaces[position % 6]);
				const { outcome } = await queue.commit({
					write: [reserve(spender, LAST_OF_MONTH + (n % 2) * DAY, limits)],
				});
				return outcome;
			});
		});
		const outcomes = await Promise.all(commits);
		assert.equal(outcomes.filter((outcome) => outcome === 'committed').length, 6 * 12);
		assert.equal(outcomes.filter((outcome) => outcome === 'over_budget').length, 480 - 6 * 12);
		for (const workspace of workspaces) {
			assert.deepEqual(await sumsOf(spenderOf(workspace)), { spent: 0, reserved: 120 });
		}
		// A connection reports what it has counted at the latest when it ends.
		await Promise.all(nodes.map((session) => session.close()));
		await until('both connections have ended', async () => {
			const { rows } = await observer.query(
				"SELECT pid FROM pg_stat_activity WHERE query LIKE '%commit_batch(%' AND pid <> pg_backend_pid()",
			);
			return rows.length === 0;
		});
		const { rows } = await observer.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
		assert.equal(Number(rows[0].deadlocks), 0);
	});
});
