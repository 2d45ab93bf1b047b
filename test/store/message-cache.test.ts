import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { workerEntry } from '../../src/pool/index.ts';
import { type Commit, openSqliteStore, type Records } from '../../src/store/index.ts';
import { databaseFile, openReadOnly } from '../../src/store/sqlite/connection.ts';
import { SqliteReaders } from '../../src/store/sqlite/readers.ts';
import { conversation, message } from './samples.ts';

type Patch = Partial<Omit<Records['messages'], 'id' | 'version' | 'created_at'>>;

const PATCHES = fc.constantFrom<Patch>(
	{ content: 'It costs 5 €.', status: 'completed', completed_at: 7 },
	{ content: 'x'.repeat(40_000) },
	{ feedback: 'down', feedback_comment: undefined },
	{ usage: { input_tokens: 3, output_tokens: 4 } },
	{ error: { code: 'model_error', message: 'No.' }, status: 'failed' },
	{},
);

test('a cached message always equals the one on disk', async () => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-recent-'));
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const db = openReadOnly(databaseFile(dataDir));
	const disk = new SqliteReaders(db);
	let seq = 0;
	const alter = fc.oneof(
		PATCHES.map((set) => (id: string): Commit['write'] => [{ op: 'patch', kind: 'messages', id, set }]),
		fc.constant((id: string): Commit['write'] => [{ op: 'remove', kind: 'messages', id }]),
		fc.constant((_: string, of: string): Commit['write'] => [{ op: 'erase_conversation', id: of }]),
		// A commit that is refused changes nothing.
		PATCHES.map((set) => (id: string): Commit['write'] => [
			{ op: 'patch', kind: 'messages', id, set },
			{ op: 'patch', kind: 'messages', id: 'msg_none', set },
		]),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(alter, { maxLength: 6 }), async (alterations) => {
			const of = conversation();
			const [one, other] = [1, 2].map(() => message({ conversation_id: of.id, seq: ++seq }));
			assert.ok(one && other);
			await store.commit({
				write: [
					{ op: 'insert', kind: 'conversations', record: of },
					{ op: 'insert', kind: 'messages', record: one },
					{ op: 'insert', kind: 'messages', record: other },
				],
			});
			const asOnDisk = async () => {
				for (const { id } of [one, other]) {
					assert.deepEqual(await store.get('messages', id), await disk.get('messages', id));
				}
			};
			await asOnDisk();
			for (const write of alterations) {
				await store.commit({ write: write(one.id, of.id) ?? [] });
				await asOnDisk();
			}
		}),
		{ numRuns: 60 },
	);
	await store[Symbol.asyncDispose]();
	db.close();
	await rm(dataDir, { recursive: true });
});
