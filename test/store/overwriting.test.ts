import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { AppError, newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type Commit, openSqliteStore, type Store } from '../../src/store/index.ts';
import { databaseFile, openReadOnly } from '../../src/store/sqlite/connection.ts';
import { staleRange, UnallocatedSpace } from '../../src/store/sqlite/unallocated-space.ts';
import { conversation, message } from './samples.ts';

const PAGE = 4096;

/** A leaf of a table with two cells at the end of the page. */
function leaf({ headerAt = 0, content = PAGE - 20 } = {}): Buffer {
	const page = Buffer.alloc(PAGE);
	page[headerAt] = 0x0d;
	page.writeUInt16BE(2, headerAt + 3);
	page.writeUInt16BE(content, headerAt + 5);
	return page;
}

test('the unallocated space of a node lies between its cell pointers and its cells', () => {
	const page = leaf();
	assert.equal(staleRange(page, 0), null, 'it is zero');
	page.fill('old', 2000, 2003);
	assert.deepEqual(staleRange(page, 0), { start: 12, end: PAGE - 20 });
	const first = leaf({ headerAt: 100 });
	first.write('old', 2000);
	assert.deepEqual(staleRange(first, 100), { start: 112, end: PAGE - 20 });
	const interior = leaf();
	interior[0] = 0x05;
	interior.write('old', 2000);
	assert.deepEqual(staleRange(interior, 0), { start: 16, end: PAGE - 20 });
});

test('cells, overflow pages and full nodes have no unallocated space', () => {
	const cells = leaf();
	cells.write('row', PAGE - 20);
	cells.writeUInt16BE(PAGE - 4, 8);
	assert.equal(staleRange(cells, 0), null);
	const overflow = Buffer.alloc(PAGE, 'text');
	overflow.writeUInt32BE(17);
	assert.equal(staleRange(overflow, 0), null);
	const full = leaf({ content: 12 });
	full.write('row', 2000);
	assert.equal(staleRange(full, 0), null);
	const impossible = leaf({ content: 5000 });
	impossible.write('row', 2000);
	assert.equal(staleRange(impossible, 0), null);
});

async function openFolder() {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-overwriting-'));
	const open = () => openSqliteStore({ dataDir, writer: workerEntry('store') });
	return {
		dataDir,
		store: await open(),
		open,
		/** How often a text is in the database file and its log. */
		async occurrences(text: string): Promise<number> {
			const file = databaseFile(dataDir);
			const contents = await Promise.all([file, `${file}-wal`].map((name) => readFile(name, 'latin1').catch(() => '')));
			return contents.join('').split(text).length - 1;
		},
		async [Symbol.asyncDispose]() {
			await rm(dataDir, { recursive: true, force: true });
		},
	};
}

const committed = async (store: Store, commit: Commit) =>
	assert.equal((await store.commit(commit)).outcome, 'committed');

/** Conversations whose rows grow and shrink, so that SQLite moves them between nodes. */
async function talk(store: Store, count: number): Promise<{ id: string; word: string }[]> {
	const all = Array.from({ length: count }, (_, index) => {
		const number = String(index).padStart(5, '0');
		return { word: index % 2 === 0 ? `canary${number}x` : `keeper${number}x`, id: newId('conversation') };
	});
	const inBatches = async (commitOf: (each: { id: string; word: string }, index: number) => Commit) => {
		await Promise.all(all.map((each, index) => committed(store, commitOf(each, index))));
	};
	await inBatches(({ id, word }) => ({
		write: [{ op: 'insert', kind: 'conversations', record: conversation({ id, title: word, end_user_id: word }) }],
	}));
	for (const seq of [1, 2, 3]) {
		await inBatches(({ id, word }, index) => {
			const content = `${word} ${'text '.repeat((index * 37 + seq * 11) % 150)}`;
			const record = message({ conversation_id: id, seq, content });
			return {
				write: [
					{ op: 'insert', kind: 'messages', record },
					{ op: 'patch', kind: 'conversations', id, set: { title: word.repeat(1 + ((index * 7 + seq) % 9)) } },
				],
				events: [
					{
						id: newId('event'),
						stream: 'ws_sample',
						type: 'message.created',
						subject: id,
						data: record,
						created_at: seq,
					},
				],
				idempotency: {
					...{ scope: newId('request'), key: 'k', body_hash: '', status: 200, body: content, subject: id },
					expires_at: Number.MAX_SAFE_INTEGER,
				},
			};
		});
	}
	for (let step = 0; step < 10; step++) await committed(store, { write: [{ op: 'inbox.project', limit: 1000 }] });
	return all;
}

test('nothing of erased rows stays in the files, and the rest of the database is as it was', async () => {
	await using folder = await openFolder();
	const { store, dataDir } = folder;
	const all = await talk(store, 600);
	assert.ok((await folder.occurrences('canary')) > 1000);
	const db = openReadOnly(databaseFile(dataDir));
	const kept = () => db.prepare("SELECT * FROM messages WHERE content LIKE 'keeper%' ORDER BY id").all();
	const before = kept();
	const doomed = all.filter(({ word }) => word.startsWith('canary'));
	for (const { id } of doomed) await committed(store, { write: [{ op: 'erase_conversation', id }] });
	// Commits go on meanwhile.
	const overwritten = store.overwriteErased();
	let isDone = false;
	void overwritten.then(() => {
		isDone = true;
	});
	const later = await talk(store, 0);
	while (!isDone) await committed(store, { write: [{ op: 'statistics.project', limit: 100 }] });
	assert.deepEqual(later, []);
	assert.equal(await folder.occurrences('canary'), 0);
	assert.deepEqual(kept(), before);
	assert.equal(before.length, 900);
	assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
	db.close();
	await store[Symbol.asyncDispose]();
	const found = new Database(databaseFile(dataDir));
	assert.doesNotThrow(() => found.exec("INSERT INTO message_search (message_search) VALUES ('integrity-check')"));
	const words = found.prepare("SELECT count(*) FROM message_search WHERE message_search MATCH 'keeper00001x'").pluck();
	assert.equal(words.get(), 3);
	found.close();
});

test('waits for a reader that needs the log', async () => {
	await using folder = await openFolder();
	const { store, dataDir } = folder;
	const [first] = await talk(store, 2);
	const reader = openReadOnly(databaseFile(dataDir));
	reader.exec('BEGIN');
	reader.prepare('SELECT count(*) FROM conversations').get();
	await committed(store, { write: [{ op: 'erase_conversation', id: first?.id as string }] });
	let isDone = false;
	const overwritten = store.overwriteErased().then(() => {
		isDone = true;
	});
	await committed(store, { write: [{ op: 'statistics.project', limit: 100 }] });
	assert.equal(isDone, false);
	assert.ok((await folder.occurrences('canary00000x')) > 0);
	reader.exec('COMMIT');
	reader.close();
	await overwritten;
	assert.equal(await folder.occurrences('canary00000x'), 0);
	await store[Symbol.asyncDispose]();
});

test('a store that closes ends the orders that wait', async () => {
	await using folder = await openFolder();
	const { store, dataDir } = folder;
	await talk(store, 2);
	const reader = openReadOnly(databaseFile(dataDir));
	reader.exec('BEGIN');
	reader.prepare('SELECT count(*) FROM conversations').get();
	await talk(store, 2);
	const refused = assert.rejects(store.overwriteErased(), AppError);
	await store[Symbol.asyncDispose]();
	await refused;
	reader.close();
	const next = await folder.open();
	await next.overwriteErased();
	await next[Symbol.asyncDispose]();
});

test('a database with pages that may look like nodes is left alone', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-overwriting-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const file = join(folder, 'vacuumed.db');
	const db = new Database(file);
	t.after(() => db.close());
	db.exec('PRAGMA auto_vacuum = FULL; CREATE TABLE notes (text TEXT)');
	assert.throws(() => new UnallocatedSpace(db, file).restart(), /auto_vacuum/);
});
