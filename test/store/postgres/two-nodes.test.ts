import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import type { Store } from '../../../src/store/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { applyStatisticsWrite } from '../../../src/store/postgres/statistics/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { addTalks, talk } from '../contract/talks.ts';
import { eraseConversation } from './statistics-erasures.ts';
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
});
