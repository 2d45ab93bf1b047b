import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { databaseFile, openWritable } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { SqliteReaders } from '../../src/store/sqlite/readers.ts';

test('lists by a user and events by type use the indexes that have only such rows', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-plans-'));
	t.after(() => rm(dataDir, { recursive: true }));
	const db = openWritable(databaseFile(dataDir));
	t.after(() => db.close());
	for (const step of MIGRATIONS) db.exec(step);
	const queries: string[] = [];
	const prepare = db.prepare.bind(db);
	db.prepare = ((sql: string) => {
		queries.push(sql);
		return prepare(sql);
	}) as typeof db.prepare;
	const readers = new SqliteReaders(db);
	const planOf = async (read: () => Promise<unknown>) => {
		queries.length = 0;
		await read();
		const [sql = ''] = queries;
		const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 1);
		const rows = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as Array<{ detail: string }>;
		return rows.map(({ detail }) => detail).join('\n');
	};
	const page = { order: 'desc', limit: 10 } as const;
	const byUser = { workspace_id: 'ws_1', end_user_id: 'anna' };
	assert.match(
		await planOf(() => readers.list('conversations', { ...page, where: byUser })),
		/conversations_by_end_user/,
	);
	const waiting = { ...page, where: { workspace_id: 'ws_1' }, notNull: 'requested_person_at' } as const;
	assert.match(await planOf(() => readers.list('conversations', waiting)), /conversations_by_request/);
	const byVisitor = { deployment_id: 'dep_1', end_user_id: 'anna' };
	assert.match(
		await planOf(() => readers.list('conversations', { ...page, where: byVisitor })),
		/conversations_by_visitor/,
	);
	const ofTypes = ['message.created', 'conversation.created'];
	assert.match(await planOf(() => readers.events.after('ws_1', 0, 10, ofTypes)), /events_by_type/);
	assert.match(await planOf(() => readers.events.after('conv_1', 0, 10, ofTypes)), /events_by_stream/);
});
