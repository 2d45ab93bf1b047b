import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pino } from 'pino';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { until } from '../support/until.ts';
import { assistant } from './samples.ts';

test('a stalled disk makes writes fail at once and does not block the close forever', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-stalled-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	await (await openSqliteStore({ dataDir, writer: workerEntry('store') }))[Symbol.asyncDispose]();

	// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
	const lines: Array<Record<string, any>> = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const writer = { file: new URL('./stalled-writer.mjs', import.meta.url) };
	const store = await openSqliteStore({ dataDir, writer, log, stallCheckMs: 5, closeMs: 5 });
	const write = () => store.commit({ write: [{ op: 'insert', kind: 'assistants', record: assistant() }] });
	assert.equal(store.isWritable(), true);
	write().catch(() => {});
	await until('it counts as late', () => !store.isWritable());
	await until('it counts as stalled', () => store.health.problem !== null);
	assert.deepEqual(store.health.problem, {
		reason: 'disk_stalled',
		message: 'The disk does not answer: nothing can be stored.',
	});
	assert.equal(lines[0]?.msg, 'writes fail: The disk does not answer: nothing can be stored.');
	await assert.rejects(write(), { code: 'unavailable', message: 'The change could not be written to disk.' });
	assert.deepEqual(await store.list('assistants', { where: {}, order: 'asc', limit: 1 }), [], 'reads go on');
	await assert.rejects(
		async () => await store[Symbol.asyncDispose](),
		/^AppError: The disk does not answer: the database was not closed/,
	);
});
