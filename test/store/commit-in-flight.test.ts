import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { BlobStore } from '../../src/store/index.ts';
import { databaseFile, openReadOnly, openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { SqliteStore, type WriterPort } from '../../src/store/sqlite/sqlite-store.ts';
import { takeFence, Writer, type WriterOutcome } from '../../src/store/sqlite/writer.ts';
import type { FromWriter, ToWriter } from '../../src/store/sqlite/writer-thread.ts';
import { message, NOON } from './samples.ts';

/** A writer that commits at once and answers when the test asks for it. */
class HeldWriter implements WriterPort {
	readonly #writer: Writer;
	readonly #held: WriterOutcome[][] = [];
	#listener: (message: FromWriter) => void = () => {};

	constructor(writer: Writer) {
		this.#writer = writer;
	}

	postMessage(sent: ToWriter): void {
		if (sent === 'close') this.#listener({ closed: true });
		else if (sent !== 'overwrite') this.#held.push(this.#writer.run(sent.tasks));
	}

	on(event: string, listener: never): void {
		if (event === 'message') this.#listener = listener;
	}

	async terminate(): Promise<void> {}

	answer(): void {
		for (const outcomes of this.#held.splice(0)) this.#listener({ outcomes });
	}
}

test('a message is not older than the events of the log that a reader has, before the writer has answered', async () => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-in-flight-'));
	const db = openWritable(databaseFile(dataDir));
	migrate(db);
	const fence = takeFence(db, 'main', 'test');
	const writer = new HeldWriter(new Writer(db, fence));
	const readOnly = openReadOnly(databaseFile(dataDir));
	const store = new SqliteStore(writer, readOnly, {} as BlobStore, fence, { dataDir });
	const answered = async <T>(promise: Promise<T>): Promise<T> => {
		// The store sends its tasks after the current callback.
		await new Promise((resolve) => setImmediate(resolve));
		writer.answer();
		return promise;
	};
	const record = message({ status: 'in_progress', content: '', completed_at: null });
	await answered(store.commit({ write: [{ op: 'insert', kind: 'messages', record }] }));
	assert.equal((await store.get('messages', record.id))?.status, 'in_progress');

	const stream = record.conversation_id;
	const ending = store.commit({
		write: [{ op: 'patch', kind: 'messages', id: record.id, set: { status: 'completed', content: 'All of it.' } }],
		events: [{ id: 'evt_1', stream, type: 'message.completed', data: { message_id: record.id }, created_at: NOON }],
	});
	await new Promise((resolve) => setImmediate(resolve));
	const [event] = await store.events.after(stream, 0, 10);
	assert.equal(event?.type, 'message.completed');
	const read = await store.get('messages', record.id);
	assert.deepEqual([read?.status, read?.content], ['completed', 'All of it.']);

	await answered(ending);
	assert.equal((await store.get('messages', record.id))?.content, 'All of it.');
	await store[Symbol.asyncDispose]();
	db.close();
	await rm(dataDir, { recursive: true });
});
