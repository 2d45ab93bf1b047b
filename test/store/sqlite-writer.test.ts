import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Commit } from '../../src/store/index.ts';
import { openReadOnly, openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { takeFence, Writer, type WriterTask } from '../../src/store/sqlite/writer.ts';
import { temporaryPlace } from './contract/life.ts';
import { assistant, message } from './samples.ts';

/** A writer as the thread has it, in this process. */
async function openWriter(t: Parameters<typeof temporaryPlace>[0]) {
	const file = join(await temporaryPlace(t), 'parley.db');
	const db = openWritable(file);
	t.after(async () => void db.close());
	migrate(db);
	const writer = new Writer(db, takeFence(db, 'main', 'test'));
	const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
	return { file, db, writer, count };
}

const task = (commit: Commit): WriterTask => ({ task: 'commit', commit });
const insertion = (record = assistant()) => task({ write: [{ op: 'insert', kind: 'assistants', record }] });

test('the writing connection syncs every commit to disk, on every open', async (t) => {
	const { file, db } = await openWriter(t);
	for (const one of [db, openWritable(file)]) {
		assert.equal(one.pragma('journal_mode', { simple: true }), 'wal');
		assert.equal(one.pragma('synchronous', { simple: true }), 2, '2 is FULL');
		if (one !== db) one.close();
	}
});

test('the reading connection cannot write', async (t) => {
	const { file } = await openWriter(t);
	const reading = openReadOnly(file);
	t.after(async () => void reading.close());
	assert.throws(() => reading.exec('DELETE FROM events'), { code: 'SQLITE_READONLY' });
});

test('commits that wait together become visible together in one transaction', async (t) => {
	const { file, db, writer } = await openWriter(t);
	const reading = openReadOnly(file);
	t.after(async () => void reading.close());
	const seen: unknown[] = [];
	db.function('look', () => {
		seen.push(reading.prepare('SELECT count(*) FROM assistants').pluck().get());
		return null;
	});
	db.exec('CREATE TEMP TRIGGER watch AFTER INSERT ON main.assistants BEGIN SELECT look(); END');
	writer.run(Array.from({ length: 5 }, () => insertion()));
	assert.deepEqual(seen, [0, 0, 0, 0, 0]);
	assert.equal(reading.prepare('SELECT count(*) FROM assistants').pluck().get(), 5);
});

test('refuses commits on a full disk without a trace, and continues once there is space', async (t) => {
	const { db, writer, count } = await openWriter(t);
	const pages = db.pragma('page_count', { simple: true }) as number;
	db.pragma(`max_page_count = ${pages + 20}`);
	const huge = task({
		write: [
			{ op: 'insert', kind: 'assistants', record: assistant() },
			{ op: 'insert', kind: 'messages', record: message({ content: 'x'.repeat(1_000_000) }) },
		],
	});
	const ends = writer.run([insertion(), huge, insertion()]);
	const stored = ends.filter(({ ok }) => ok).length;
	assert.deepEqual(ends[1], { ok: false, message: 'database or disk is full', code: 'SQLITE_FULL' });
	assert.equal(count('assistants'), stored, 'what was answered well is there, and nothing else');
	assert.equal(count('messages'), 0);

	db.pragma('max_page_count = 1000000');
	assert.deepEqual(
		writer.run([huge, insertion()]).map(({ ok }) => ok),
		[true, true],
	);
	assert.equal(count('assistants'), stored + 2);
	assert.deepEqual(db.pragma('integrity_check', { simple: true }), 'ok');
});

test('refuses a whole batch while another process locks the database, and continues afterwards', async (t) => {
	const { file, db, writer, count } = await openWriter(t);
	db.pragma('busy_timeout = 20');
	const other = openWritable(file);
	t.after(async () => void other.close());
	other.exec('BEGIN IMMEDIATE');
	assert.deepEqual(
		writer.run([insertion(), insertion()]),
		Array.from({ length: 2 }, () => ({ ok: false, message: 'database is locked', code: 'SQLITE_BUSY' })),
	);
	other.exec('ROLLBACK');
	assert.equal(writer.run([insertion()])[0]?.ok, true);
	assert.equal(count('assistants'), 1);
});
