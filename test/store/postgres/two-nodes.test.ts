import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { eraseConversation } from '../../../src/store/postgres/conversation-erasure.ts';
import { applyInboxWrite } from '../../../src/store/postgres/inbox/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { applyStatisticsWrite } from '../../../src/store/postgres/statistics/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { addTalks, talk } from '../contract/talks.ts';
import { inTransaction } from './transactions.ts';

const AT = Date.UTC(2021, 10, 1, 9);
const DAY = 86_400_000;

suite('two nodes that derive from the log of one database', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let store: Store;
	let url: string;
	before(async () => {
		server = await startPostgres();
		url = await server.database('two-nodes');
		store = await openPostgresStore({ url });
	});
	after(async () => {
		await store[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});

	const figure = async (workspaceId: string, figure: string): Promise<number> => {
		let total = 0;
		for await (const sums of store.statistics.figures({ workspaceId, series: 'day', from: 0, to: AT + 30 * DAY })) {
			for (const sum of sums) if (sum.figure === figure) total += sum.value;
		}
		return total;
	};

	test('count each event once when they count at the same time', async () => {
		const workspaceId = newId('workspace');
		await addTalks(
			store,
			Array.from({ length: 20 }, (_, n) => talk(workspaceId, AT + n)),
		);
		const project = () =>
			inTransaction(url, (sql) => applyStatisticsWrite(sql, { op: 'statistics.project', limit: 7 }));
		while ((await store.statistics.position()) < (await store.events.lastSeq())) {
			await Promise.all([project(), project(), project()]);
		}
		assert.equal(await figure(workspaceId, 'conversations'), 20);
		assert.equal(await figure(workspaceId, 'messages'), 40);
	});

	test('count a conversation once that one of them erases while the other counts it', async () => {
		const workspaceId = newId('workspace');
		const talks = Array.from({ length: 10 }, (_, n) => talk(workspaceId, AT + n, { reply: { answered_by: 'none' } }));
		await addTalks(store, talks);
		const counting = inTransaction(url, (sql) => applyStatisticsWrite(sql, { op: 'statistics.project', limit: 1_000 }));
		const erasing = talks.map(({ id }) => inTransaction(url, (sql) => eraseConversation(sql, id)));
		await Promise.all([counting, ...erasing]);
		assert.equal(await store.statistics.position(), await store.events.lastSeq());
		assert.equal(await figure(workspaceId, 'conversations'), 10);
		assert.deepEqual(await store.statistics.ungrouped(100), []);
	});

	test('leave no group without a question when the second finds its question in a group', async () => {
		const workspaceId = newId('workspace');
		const asked = talk(workspaceId, AT, { reply: { answered_by: 'none' } });
		await addTalks(store, [asked]);
		await store.commit({ write: [{ op: 'statistics.project', limit: 1_000 }] });
		const group = async () => {
			const times = { resolved_at: null, created_at: AT, updated_at: AT };
			const record = { id: newId('unanswered'), workspace_id: workspaceId, status: 'open' as const, document_id: null };
			const write = { op: 'insert', kind: 'question_groups', record: { ...record, ...times } } as const;
			const assign = { op: 'statistics.group', message_id: asked.reply.id, group_id: record.id, terms: [] } as const;
			await store.commit({ write: [write, assign] });
			return record.id;
		};
		const ids = [await group(), await group()];
		const records = await Promise.all(ids.map((id) => store.get('question_groups', id)));
		assert.deepEqual(
			records.map((record) => record?.id),
			[ids[0], undefined],
		);
	});

	/** How many rows the inbox and the index of messages have of conversations. */
	const derivedRows = async (ids: string[]) =>
		inTransaction(url, (sql) =>
			sql.get(
				`SELECT (SELECT count(*) FROM inbox_rows WHERE conversation_id = ANY(@ids)) AS rows,
				 (SELECT count(*) FROM searchable_messages WHERE conversation_id = ANY(@ids)) AS messages`,
				{ ids },
			),
		);
	const projectInbox = () => inTransaction(url, (sql) => applyInboxWrite(sql, { op: 'inbox.project', limit: 1_000 }));
	const untilOneWaits = () =>
		until('a transaction waits for another', () =>
			inTransaction(url, async (sql) => (await sql.get('SELECT 1 FROM pg_locks WHERE NOT granted')) !== undefined),
		);

	test('derive each row of the inbox once when they derive at the same time', async () => {
		const talks = Array.from({ length: 20 }, (_, n) => talk(newId('workspace'), AT + n));
		await addTalks(store, talks);
		await Promise.all([projectInbox(), projectInbox(), projectInbox()]);
		assert.deepEqual(await derivedRows(talks.map(({ id }) => id)), { rows: 20, messages: 40 });
	});

	test('leave nothing of a conversation that one of them erases while the other derives its row', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(store, [made]);
		const erase = () => inTransaction(url, (sql) => eraseConversation(sql, made.id));
		let erasing: Promise<unknown> | undefined;
		await inTransaction(url, async (sql) => {
			await applyInboxWrite(sql, { op: 'inbox.project', limit: 1_000 });
			erasing = erase();
			await untilOneWaits();
		});
		await erasing;
		assert.deepEqual(await derivedRows([made.id]), { rows: 0, messages: 0 });
	});

	test('derive nothing from a conversation that the other is erasing', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(store, [made]);
		let deriving: Promise<unknown> | undefined;
		await inTransaction(url, async (sql) => {
			await eraseConversation(sql, made.id);
			deriving = projectInbox();
			await untilOneWaits();
		});
		await deriving;
		assert.deepEqual(await derivedRows([made.id]), { rows: 0, messages: 0 });
	});

	test('leave nothing of a message that one of them removes while the other indexes it', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(store, [made]);
		let removing: Promise<unknown> | undefined;
		await inTransaction(url, async (sql) => {
			await applyInboxWrite(sql, { op: 'inbox.project', limit: 1_000 });
			removing = store.commit({ write: [{ op: 'remove', kind: 'messages', id: made.question.id }] });
			await untilOneWaits();
		});
		await removing;
		assert.deepEqual(await derivedRows([made.id]), { rows: 1, messages: 1 });
	});

	test('store nothing about the reader of a conversation that the other is erasing', async () => {
		const made = talk(newId('workspace'), AT);
		await addTalks(store, [made]);
		const read = { op: 'inbox.read', reader: 'user_1', conversation_id: made.id, seq: 1 } as const;
		let reading: Promise<unknown> | undefined;
		await inTransaction(url, async (sql) => {
			await eraseConversation(sql, made.id);
			reading = inTransaction(url, (other) => applyInboxWrite(other, read));
			await untilOneWaits();
		});
		await reading;
		const { count } = (await inTransaction(url, (sql) =>
			sql.get('SELECT count(*) AS count FROM inbox_reads WHERE conversation_id = @id', { id: made.id }),
		)) as { count: number };
		assert.equal(count, 0);
	});
});
