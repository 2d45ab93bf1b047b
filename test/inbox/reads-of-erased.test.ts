import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { conversation } from '../store/samples.ts';

test('nothing is stored about the reader of a conversation that was erased meanwhile', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-reads-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const [kept, erased] = [conversation(), conversation()];
	const record = (one: typeof kept) => ({ op: 'insert' as const, kind: 'conversations' as const, record: one });
	await store.commit({ write: [record(kept), record(erased)] });
	await store.commit({ write: [{ op: 'erase_conversation', id: erased.id }] });
	for (const { id } of [kept, erased]) {
		await store.commit({ write: [{ op: 'inbox.read', reader: 'user_1', conversation_id: id, seq: 1 }] });
	}
	const db = new Database(databaseFile(dataDir), { readonly: true });
	t.after(() => db.close());
	assert.deepEqual(db.prepare('SELECT conversation_id FROM inbox_reads').pluck().all(), [kept.id]);
});
