import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { sleep } from '../../src/base/index.ts';
import { indexTables } from '../knowledge/index-tables.ts';
import { manyChunks } from '../knowledge/knowledge-harness.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRestartableServer } from './restartable-server.ts';

const BASES = '/api/v1/knowledge-bases';
const CUTS = 3;
const CHUNKS = 30;
/** The longest time between a document that is searchable and the kill: shorter and longer than a training takes. */
const MAX_DELAY_MS = 600;

test('a server that is killed at any moment of a tuned training searches with the old basis or the new one', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	let base: string | undefined;

	for (let cut = 1; cut <= CUTS; cut++) {
		await using server = await start();
		base ??= (await server.call('POST', BASES, { name: 'Cut' })).body.id as string;
		const content = manyChunks(CHUNKS, `cut${cut}`);
		const added = await server.call('POST', `${BASES}/${base}/documents`, { source_type: 'text', content });
		assert.equal(added.status, 201);
		await until('the document is searchable', async () => (await statusOf(server, base)).status === 'ready', 60_000);
		const delay = randomInt(0, MAX_DELAY_MS);
		await sleep(delay);
		await server.kill();
		const { bases, generations, embedded, chunks, orphans } = indexTables(dataDir);
		t.diagnostic(`cut ${cut} after ${delay} ms; bases: ${bases.length}`);
		assert.deepEqual([generations.length, chunks, embedded, orphans], [1, cut * CHUNKS, cut * CHUNKS, 0]);
		await using recovering = await start();
		assert.ok(await finds(recovering, base, `cut${cut}7`), 'the basis that serves has the last document');
		await recovering.kill();
	}

	await using server = await start();
	assert.ok(base);
	await until('the training is repeated', async () => (await statusOf(server, base)).trained_at !== null, 60_000);
	for (let cut = 1; cut <= CUTS; cut++) assert.ok(await finds(server, base, `cut${cut}7`));
	const { generations, vectors, bases, orphans, chunks, embedded } = indexTables(dataDir);
	assert.deepEqual(
		[generations.length, bases.length, orphans],
		[1, 1, 0],
		'nothing is left of the training that was cut',
	);
	assert.deepEqual([vectors, chunks, embedded], [bases, CUTS * CHUNKS, CUTS * CHUNKS]);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

async function statusOf(server: ServerProcess, base: string | undefined) {
	return (await server.call('GET', `${BASES}/${base}/status`)).body;
}

async function finds(server: ServerProcess, base: string, query: string): Promise<boolean> {
	const { body } = await server.call('POST', `${BASES}/${base}/search`, { query });
	return body.data.length > 0;
}
