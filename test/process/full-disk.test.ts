import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { startServer } from '../support/server-process.ts';
import { mountSmallDisk, skipWithoutSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const SIZE_MB = 24;

const skip = await skipWithoutSmallDisk();

test('a full disk is logged and makes the server not ready, also without traffic, until there is space', {
	skip,
}, async () => {
	await using disk = await mountSmallDisk(SIZE_MB);
	assert.ok(disk);
	await using server = await startServer({ dataDir: disk.folder });
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
	const ready = async () => (await server.call('GET', '/readyz')).status === 200;
	assert.ok(await ready());
	const logged = (text: string) =>
		server
			.output()
			.split('\n')
			.filter((line) => line.startsWith('{') && line.endsWith('}') && line.includes(text))
			.map((line) => JSON.parse(line));

	const makeSpace = await disk.fill();
	const long = 'x'.repeat(30_000);
	const refused = await until('a write was refused', async () => {
		const answer = await server.call('POST', '/api/v1/assistants', { name: 'Full', master_prompt: long });
		return answer.status !== 201 && answer;
	});
	assert.deepEqual([refused.status, refused.body.error.code], [503, 'unavailable']);
	const failed = await until('the failure is logged', () =>
		logged('a request failed').find(({ request_id }) => request_id === refused.body.error.request_id),
	);
	assert.match(failed.causes.join(), /disk is full|disk I\/O error/);

	const unready = await until('the server is not ready', async () => {
		const answer = await server.call('GET', '/readyz');
		return answer.status === 503 && answer;
	});
	assert.equal(unready.body.status, 'not ready');
	assert.match(unready.body.reason, /^disk_(full|error)$/);
	assert.match(unready.body.message, /nothing can be stored\.$/);
	const form = new FormData();
	form.set('file', new Blob([long.repeat(100)]), 'long.txt');
	const upload = await server.call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, form);
	assert.equal(upload.status, 503);
	for (let at = 0; at < 20; at++)
		await server.call('POST', '/api/v1/assistants', { name: 'Full', master_prompt: long });
	assert.equal((await server.call('GET', '/api/v1/assistants')).status, 200, 'what is stored can be read');
	const told = logged('"msg":"writes fail');
	assert.equal(told.length, new Set(told.map(({ reason }) => reason)).size, 'each reason is told once');
	assert.match(told[0]?.code, /^SQLITE_(FULL|IOERR)/);

	await makeSpace();
	await until('the server is ready without any write of ours', ready);
	await until('the recovery is logged', () => logged('writes succeed again').length === 1);
	assert.equal((await server.call('POST', '/api/v1/assistants', { name: 'Room again' })).status, 201);
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
});

test('an erasure interrupted by a full disk is completed later and does not end the server', {
	skip,
}, async () => {
	await using disk = await mountSmallDisk(SIZE_MB);
	assert.ok(disk);
	await using server = await startServer({ dataDir: disk.folder });
	const made = async (path: string, body: object) => {
		const answer = await server.call('POST', path, body);
		assert.equal(answer.status, 201, JSON.stringify(answer.body));
		return answer.body;
	};
	const { id: assistant_id } = await made('/api/v1/assistants', { name: 'Guide' });
	const { id: deployment_id } = await made('/api/v1/deployments', { assistant_id });
	const { conversation_id } = await made('/api/v1/messages', { deployment_id, content: 'Hello' });
	// Grows the log until it was written into the database once, and then holds what the database has no room for yet.
	const master_prompt = 'x'.repeat(30_000);
	for (let at = 0; at < 170; at++) await made('/api/v1/assistants', { name: 'Large', master_prompt });
	const wal = join(disk.folder, 'parley.db-wal');
	const { size } = await stat(wal);
	const makeSpace = await disk.fill();

	const erased = await server.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`);
	assert.equal(erased.status, 200, 'there is room for it in the log');
	await until('the server is not ready', async () => (await server.call('GET', '/readyz')).status === 503);
	await makeSpace();
	await until('the log is cut', async () => (await stat(wal)).size < size);
	await until('the server is ready again', async () => (await server.call('GET', '/readyz')).status === 200);
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
});
