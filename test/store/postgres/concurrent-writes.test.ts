import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newId } from '../../../src/base/index.ts';
import { CONVERSATION_ERASURE_JOB, ERASED_BODY_HASH, NOTHING_ERASED } from '../../../src/store/index.ts';
import { applyWrite } from '../../../src/store/postgres/apply-write.ts';
import type { ComposedWrite } from '../../../src/store/postgres/encode-commit.ts';
import type { Sql } from '../../../src/store/postgres/sql.ts';
import { skipWithoutPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { conversation, erasure, event, message, NOON, source, webhook } from '../samples.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';
import { insertRow, insertRows } from './rows.ts';

/** Transactions of two nodes at once. The first has written and not committed when the second comes to the same rows. */
suite('writes of two nodes at once', { skip: skipWithoutPostgres }, () => {
	let database: OpenDatabase;
	let first: Sql;
	let second: Sql;
	let observer: Sql;
	let secondPid: number;

	before(async () => {
		database = await openDatabase();
		first = await database.connect();
		second = await database.connect();
		observer = await database.connect();
		secondPid = (await second.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))?.pid ?? 0;
	});
	after(() => database[Symbol.asyncDispose]());

	/** @param isWaiting whether the second waits for the first, or leaves out what the first has locked */
	async function inTurn(
		perform: () => Promise<unknown>,
		write: ComposedWrite | (() => Promise<unknown>),
		isWaiting = true,
	): Promise<void> {
		await first.run('BEGIN');
		await perform();
		await second.run('BEGIN');
		const done = typeof write === 'function' ? write() : applyWrite(second, write);
		if (isWaiting) await until('the second transaction waits for a lock', isSecondWaiting);
		else await done;
		await first.run('COMMIT');
		await done;
		await second.run('COMMIT');
	}

	async function isSecondWaiting(): Promise<boolean> {
		const waiting = "SELECT 1 FROM pg_stat_activity WHERE pid = @pid AND wait_event_type = 'Lock'";
		return (await observer.get(waiting, { pid: secondPid })) !== undefined;
	}

	const rows = <R>(text: string, id: string) => observer.all<R>(text, { id });

	test('count the rows of a conversation once, and leave one job for the rest', async () => {
		const running = erasure({ workspace_id: newId('workspace'), counts: { ...NOTHING_ERASED } });
		const { workspace_id, end_user_id } = running;
		const { id, ...rest } = conversation({ workspace_id, end_user_id });
		await insertRow(observer, 'erasures', running);
		await insertRow(observer, 'conversations', { id, ...rest });
		const messages = [1, 2, 3, 4].map((seq) => message({ conversation_id: id, seq }));
		await insertRows(observer, 'messages', messages);
		const write = { op: 'erase_conversation', id, limit: 1 } as const;
		await applyWrite(observer, write);
		await inTurn(() => applyWrite(first, write), write);
		const [stored] = await rows<{ counts: string }>('SELECT counts FROM erasures WHERE id = @id', running.id);
		const { conversations, messages: erased } = JSON.parse(stored?.counts ?? '{}');
		assert.deepEqual([conversations, erased], [1, 3]);
		assert.equal((await rows('SELECT 1 FROM messages WHERE conversation_id = @id', id)).length, 1);
		const jobs = await rows<{ kind: string; fair_group: string }>(
			'SELECT kind, fair_group FROM jobs WHERE ref = @id',
			id,
		);
		assert.deepEqual(
			jobs.map((job) => ({ ...job })),
			[{ kind: CONVERSATION_ERASURE_JOB, fair_group: running.id }],
		);
	});

	test('erase a message that is added to the conversation meanwhile', async () => {
		const record = conversation();
		const { id } = record;
		await insertRow(observer, 'conversations', record);
		const say = async () => {
			await first.run('UPDATE conversations SET message_count = 1 WHERE id = @id', { id });
			await insertRow(first, 'messages', message({ conversation_id: id }));
		};
		await inTurn(say, { op: 'erase_conversation', id });
		assert.deepEqual(await rows('SELECT 1 FROM messages WHERE conversation_id = @id', id), []);
	});

	test('keep an old event that is delivered again meanwhile', async () => {
		const { webhookId, seq } = await delivered(1_000_001);
		const redeliver: ComposedWrite = { op: 'redeliver', webhook_id: webhookId, seqs: [seq], at: NOON };
		await inTurn(() => applyWrite(first, redeliver), { op: 'erase_events', before: NOON + 1, limit: 9 });
		const status = 'SELECT status FROM events JOIN deliveries ON event_seq = seq WHERE webhook_id = @id';
		assert.deepEqual(await rows(status, webhookId), [{ status: 'pending' }]);
	});

	test('add no delivery to an event that is erased meanwhile', async () => {
		const { webhookId, seq } = await delivered(1_000_002);
		const erase = { op: 'erase_events', before: NOON + 1, limit: 9 } as const;
		await inTurn(() => applyWrite(first, erase), { op: 'redeliver', webhook_id: webhookId, seqs: [seq], at: NOON });
		assert.deepEqual(await rows('SELECT 1 FROM deliveries WHERE webhook_id = @id', webhookId), []);
	});

	test('record no failure of an endpoint that is deleted meanwhile', async () => {
		const record = webhook();
		const { id } = record;
		await insertRow(observer, 'webhooks', record);
		const remove = () => first.run('DELETE FROM webhooks WHERE id = @id', { id });
		const write = JSON.stringify({ op: 'record_failure', webhook_id: id, at: NOON });
		await inTurn(remove, () => second.run('SELECT write_failure(@write)', { write }));
		assert.deepEqual(await rows('SELECT 1 FROM webhook_failures WHERE webhook_id = @id', id), []);
	});

	test('keep a response that is stored again meanwhile', async () => {
		const id = newId('workspace');
		await observer.run(
			"INSERT INTO idempotency (scope, key, body_hash, status, body, expires_at) VALUES (@id, 'k', '', 200, '', 5)",
			{ id },
		);
		const renew = () => first.run('UPDATE idempotency SET expires_at = 99 WHERE scope = @id', { id });
		await inTurn(renew, { op: 'erase_expired', before: 5, limit: 9 }, false);
		assert.deepEqual(await rows('SELECT expires_at FROM idempotency WHERE scope = @id', id), [{ expires_at: 99 }]);
	});

	test('recognise an attempt of a request whose conversation is erased meanwhile', async () => {
		const record = conversation();
		const { id } = record;
		await insertRow(observer, 'conversations', record);
		const request = { scope: id, key: 'k', body_hash: 'h', status: 201, body: '{}', subject: id, expires_at: 2 ** 52 };
		const response = JSON.stringify(request);
		await observer.run('SELECT store_response(@response)', { response });
		let stored: { replay: { outcome: string; body_hash: string } | null } | undefined;
		const attempt = async () => {
			stored = await second.get('SELECT store_response(@response) AS replay', { response });
		};
		await inTurn(() => applyWrite(first, { op: 'erase_conversation', id }), attempt);
		assert.deepEqual([stored?.replay?.outcome, stored?.replay?.body_hash], ['replay', ERASED_BODY_HASH]);
		assert.deepEqual(await rows('SELECT 1 FROM idempotency WHERE scope = @id', id), []);
	});

	test('find no more pages than the limit of the source', async () => {
		const record = source({ run: 1 });
		const { id } = record;
		await insertRow(observer, 'sources', record);
		const find = (urls: string[]) =>
			({
				...{ op: 'sources.find_pages', source_id: id, run: 1, max_pages: 3, max_sitemaps: 1, at: NOON },
				pages: urls.map((url) => ({ kind: 'page', url, fetch_url: null, depth: 1 })),
			}) as const satisfies ComposedWrite;
		await inTurn(() => applyWrite(first, find(['/a', '/b'])), find(['/b', '/c', '/d']));
		const urls = await rows<{ url: string }>('SELECT url FROM source_pages WHERE source_id = @id ORDER BY url', id);
		assert.deepEqual(
			urls.map(({ url }) => url),
			['/a', '/b', '/c'],
		);
		assert.deepEqual(await rows('SELECT found FROM sources WHERE id = @id', id), [{ found: 3 }]);
	});

	/** An event with a delivery that has ended. */
	async function delivered(seq: number): Promise<{ webhookId: string; seq: number }> {
		const record = webhook();
		const { id, stream, type, created_at } = event(record.workspace_id);
		await insertRow(observer, 'webhooks', record);
		await observer.run(
			"INSERT INTO events (seq, id, stream, type, data, created_at) VALUES (@seq, @id, @stream, @type, '{}', @created_at)",
			{ seq, id, stream, type, created_at },
		);
		await applyWrite(observer, { op: 'redeliver', webhook_id: record.id, seqs: [seq], at: NOON });
		await observer.run("UPDATE deliveries SET status = 'delivered', due_at = NULL WHERE event_seq = @seq", { seq });
		return { webhookId: record.id, seq };
	}
});
