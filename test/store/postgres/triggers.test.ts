import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Sql } from '../../../src/store/postgres/sql.ts';
import { skipWithoutPostgres } from '../../support/postgres.ts';
import { conversation, document, message, replyCall, replyRound, user } from '../samples.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';
import { insertRow } from './rows.ts';

suite('rows that go with a record', { skip: skipWithoutPostgres }, () => {
	let database: OpenDatabase;
	let sql: Sql;
	before(async () => {
		database = await openDatabase();
		sql = await database.connect();
	});
	after(() => database[Symbol.asyncDispose]());

	/** How many rows of each of these tables there are. */
	const counts = (...tables: string[]) =>
		Promise.all(
			tables.map(async (table) => (await sql.get<{ count: number }>(`SELECT count(*) FROM ${table}`))?.count),
		);
	const remove = (kind: string, id: string) => sql.run(`DELETE FROM ${kind} WHERE id = @id`, { id });

	test('the inbox row of a conversation, and who has read it', async () => {
		const records = [conversation(), conversation()];
		for (const { id, ...rest } of records) {
			await insertRow(sql, 'conversations', { id, ...rest });
			await sql.run(
				`INSERT INTO inbox_rows (conversation_id, workspace_id, status, deployment_id, activity_at, last_seq, rated_down, unanswered)
				 VALUES (@id, '', '', '', 0, 0, 0, 0)`,
				{ id },
			);
			await sql.run("INSERT INTO inbox_reads (reader, conversation_id, seq) VALUES ('someone', @id, 1)", { id });
		}
		await remove('conversations', records[0]?.id ?? '');
		assert.deepEqual(await counts('inbox_rows', 'inbox_reads'), [1, 1]);
		await remove('conversations', records[1]?.id ?? '');
		assert.deepEqual(await counts('inbox_rows', 'inbox_reads'), [0, 0]);
	});

	test('what a user has read', async () => {
		const records = [user(), user()];
		for (const { id, ...rest } of records) {
			await insertRow(sql, 'users', { id, ...rest });
			await sql.run("INSERT INTO inbox_reads (reader, conversation_id, seq) VALUES (@id, 'conv_x', 1)", { id });
			await sql.run('INSERT INTO inbox_readers (reader, read_before) VALUES (@id, 1)', { id });
		}
		await remove('users', records[0]?.id ?? '');
		assert.deepEqual(await counts('inbox_reads', 'inbox_readers'), [1, 1]);
		await remove('users', records[1]?.id ?? '');
		assert.deepEqual(await counts('inbox_reads', 'inbox_readers'), [0, 0]);
	});

	test('the citations of a document', async () => {
		const records = [document(), document()];
		for (const { id, ...rest } of records) {
			await insertRow(sql, 'documents', { id, ...rest });
			await sql.run('INSERT INTO cited_documents (document_id, last_cited_at) VALUES (@id, 1)', { id });
		}
		await remove('documents', records[0]?.id ?? '');
		assert.deepEqual(await counts('cited_documents'), [1]);
	});

	test('the rounds and calls of a message', async () => {
		const records = [message({ seq: 1, conversation_id: 'conv_x' }), message({ seq: 2, conversation_id: 'conv_x' })];
		for (const { id, ...rest } of records) {
			await insertRow(sql, 'messages', { id, ...rest });
			await insertRow(sql, 'reply_rounds', replyRound({ message_id: id }));
			await insertRow(sql, 'reply_calls', replyCall({ message_id: id }));
		}
		await remove('messages', records[0]?.id ?? '');
		assert.deepEqual(await counts('reply_rounds', 'reply_calls'), [1, 1]);
	});
});
