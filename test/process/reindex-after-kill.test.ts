import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import test from 'node:test';
import { sleep } from '../../src/base/index.ts';
import { indexTables } from '../knowledge/index-tables.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { createRestartableServer } from './restartable-server.ts';

const BASES = '/api/v1/knowledge-bases';
const CUTS = 4;
const DOCUMENTS = 30;

test('a server that is killed at any moment of a reindex finishes it after the next start and leaves one index', async (t) => {
	const { dataDir, start } = await createRestartableServer(t);
	let base: string | undefined;

	for (let cut = 0; cut < CUTS; cut++) {
		await using server = await start();
		base ??= await fill(server);
		const { status, body } = await server.call('POST', `${BASES}/${base}/reindex`);
		assert.deepEqual([status, body.status], [200, 'indexing'], 'asked for, or under way since the cut before');
		const delay = randomInt(0, 400);
		await sleep(delay);
		await server.kill();
		const { generations } = indexTables(dataDir);
		t.diagnostic(`cut ${cut + 1} after ${delay} ms; generations: ${generations.length}`);
		assert.ok(generations.length === 1 || generations.length === 2);
		await using recovering = await start();
		assert.equal(await hitsOf(recovering, base), DOCUMENTS, 'while the reindex is taken up again');
		await recovering.kill();
	}

	await using server = await start();
	assert.ok(base);
	await settled(server, base);
	assert.equal(await hitsOf(server, base), DOCUMENTS);
	await until(
		'the training that follows has ended',
		async () => (await server.call('GET', `${BASES}/${base}/status`)).body.trained_at !== null,
		60_000,
	);
	const { generations, fullText, vectors, bases, orphans, chunks, embedded } = indexTables(dataDir);
	assert.equal(generations.length, 1);
	assert.deepEqual([fullText, vectors, orphans], [generations, bases, 0]);
	assert.deepEqual([chunks, embedded, bases.length], [DOCUMENTS, DOCUMENTS, 1]);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

/** Makes a knowledge base of many documents, indexed. */
async function fill(server: ServerProcess): Promise<string> {
	const { body } = await server.call('POST', BASES, { name: 'Cut' });
	for (let at = 0; at < DOCUMENTS; at++) {
		const content = `Shelf ${at} of the storehouse holds kettles of the colour number ${at * 7}.`;
		const added = await server.call('POST', `${BASES}/${body.id}/documents`, { source_type: 'text', content });
		assert.equal(added.status, 201);
	}
	await settled(server, body.id);
	return body.id;
}

async function settled(server: ServerProcess, base: string): Promise<void> {
	const status = await until(
		'nothing is being indexed',
		async () => {
			const { body } = await server.call('GET', `${BASES}/${base}/status`);
			return body.status !== 'indexing' && body;
		},
		60_000,
	);
	assert.deepEqual([status.status, status.documents_indexed], ['ready', DOCUMENTS]);
}

/** The number of documents that a search for a common word finds. */
async function hitsOf(server: ServerProcess, base: string): Promise<number> {
	const { body } = await server.call('POST', `${BASES}/${base}/search`, { query: 'kettles', top_k: 50 });
	return new Set(body.data.map(({ document_id }: { document_id: string }) => document_id)).size;
}
