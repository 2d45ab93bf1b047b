import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ListQuery } from '../../../src/store/index.ts';
import { PostgresReaders } from '../../../src/store/postgres/readers.ts';
import type { Sql, Values } from '../../../src/store/postgres/sql.ts';
import { skipWithoutPostgres } from '../../support/postgres.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';

/** The tables are small, so the planner is kept from reading and sorting whole tables: a plan shows what the indexes can do. */
suite('plans of queries on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let database: OpenDatabase;
	let readers: PostgresReaders;
	let plan: string[];

	before(async () => {
		database = await openDatabase();
		const sql = await database.connect();
		await sql.run(
			`INSERT INTO deliveries (id, version, workspace_id, webhook_id, event_seq, event_id, event_type, status, attempts, failures,
				due_at, created_at, updated_at)
			 SELECT concat('dlv_', n), 1, 'ws_1', concat('wh_', n % 10), n, concat('evt_', n), concat('type', n % 7), status, 0, 0,
				CASE status WHEN 'pending' THEN n END, n, n
			 FROM (SELECT n, (ARRAY['pending', 'failed', 'delivered'])[1 + n % 3] AS status FROM generate_series(1, 5000) AS n) AS made`,
		);
		await sql.run('ANALYZE deliveries');
		for (const way of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'])
			await sql.run(`SET enable_${way} = off`);
		const explain = async (text: string, values?: Values) => {
			const rows = await sql.all<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
			plan.push(...rows.map((row) => row['QUERY PLAN']));
		};
		const explaining: Sql = {
			all: async (text, values) => {
				await explain(text, values);
				return [];
			},
			get: async (text, values) => {
				await explain(text, values);
				return undefined;
			},
			run: async (text, values) => {
				await explain(text, values);
				return 0;
			},
		};
		readers = new PostgresReaders(explaining);
	});
	after(() => database[Symbol.asyncDispose]());

	async function planOf(read: () => Promise<unknown>): Promise<string> {
		plan = [];
		await read();
		return plan.join('\n');
	}

	const page = { order: 'desc', limit: 10 } as const;
	const conversations = (query: Omit<ListQuery<'conversations'>, 'order' | 'limit'>) =>
		planOf(() => readers.list('conversations', { ...page, ...query }));

	test('lists of conversations read an index in its order', async () => {
		const [workspace_id, end_user_id] = ['ws_1', 'anna'];
		const plans = {
			conversations_by_creation: await conversations({ where: { workspace_id } }),
			conversations_by_end_user: await conversations({ where: { workspace_id, end_user_id } }),
			conversations_by_visitor: await conversations({ where: { deployment_id: 'dep_1', end_user_id } }),
			conversations_by_status: await conversations({ where: { workspace_id, status: 'archived' } }),
			conversations_by_request: await conversations({ where: { workspace_id }, notNull: 'requested_person_at' }),
			conversations_by_activity: await planOf(() => readers.conversations.idle('ws_1', 5, { at: 3, id: 'x' }, 10)),
		};
		for (const [index, text] of Object.entries(plans)) {
			assert.match(text, new RegExp(`Index Scan.* using ${index} on`));
			assert.doesNotMatch(text, /Sort/);
		}
	});

	test('deliveries with a status are read in the order of each type', async () => {
		const where = { webhook_id: 'wh_1', status: 'failed' } as const;
		const text = await planOf(() => readers.list('deliveries', { ...page, where, after: { at: 4_000, id: 'x' } }));
		assert.match(text, /Limit[^\n]*\n +-> +Index Scan Backward using deliveries_by_status on deliveries /);
		assert.match(text, /webhook_id.* AND .*status.* AND .*event_type.*found\.name.* AND \(ROW\(created_at, /);
		assert.equal(text.match(/Sort {2}/g)?.length, 1, 'only the pages of the types are sorted');
	});

	test('pending deliveries are read by endpoint, in the order in which they are due', async () => {
		const due = await planOf(() => readers.deliveries.due('wh_1', 5, 10));
		assert.equal(due.match(/using deliveries_pending on/g)?.length, 3);
		assert.equal(due.match(/Sort {2}/g)?.length, 1);
		const all = await planOf(() => readers.deliveries.webhooksWithPending(null));
		assert.match(all, /using deliveries_pending on/);
		assert.doesNotMatch(all, /Seq Scan/);
	});

	test('old events are read in the order of creation, each with its own deliveries', async () => {
		const text = await planOf(() => readers.events.hasExpired(5));
		assert.match(
			text,
			/using events_by_creation on events[^\n]*\n +Index Cond: \(\(created_at < .*ROW\(created_at, seq\) > /,
		);
		assert.match(text, /using deliveries_by_event on deliveries[^\n]*\n +Index Cond: \(event_seq = events\.seq\)/);
		assert.doesNotMatch(text, /Sort|deliveries_pending/);
	});

	test('events about a conversation are read in the order of the log', async () => {
		const text = await planOf(() => readers.endUsers.eventsAbout('conv_1', 5, 10));
		assert.match(text, /using events_by_subject on events[^\n]*\n +Index Cond: \(\(subject = [^\n]* AND \(seq > /);
		assert.match(text, /using events_by_stream on events[^\n]*\n +Index Cond: \(\(stream = [^\n]* AND \(seq > /);
	});
});
