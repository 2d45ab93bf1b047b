import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

test('the text of an erased conversation is in no file of the data folder', async () => {
	await using server = await startServer();
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide' });
	const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
	const traces = async () => {
		const files = ['parley.db', 'parley.db-wal'].map((name) => readFile(join(server.dataDir, name)).catch(() => null));
		const found = (await Promise.all(files)).filter((bytes) => bytes?.includes('swordfish'));
		return found.length;
	};
	const sent = await Promise.all(
		Array.from({ length: 20 }, (_, index) =>
			server.call(
				'POST',
				'/api/v1/messages',
				{
					deployment_id: deployment.body.id,
					content: `My secret word is swordfish, for the ${index}. time. ${'Really. '.repeat(50 * index)}`,
					metadata: { word: 'swordfish' },
				},
				{ 'idempotency-key': `message ${index}` },
			),
		),
	);
	assert.ok((await traces()) > 0);
	for (const { body } of sent) {
		const key = { 'idempotency-key': body.id };
		const rated = { rating: 'up', comment: 'swordfish!' };
		assert.equal((await server.call('POST', `/api/v1/messages/${body.id}/feedback`, rated, key)).status, 200);
		assert.equal(
			(await server.call('POST', `/api/v1/conversations/${body.conversation_id}/stop`, undefined, key)).status,
			200,
		);
	}
	for (const { body } of sent) {
		const path = `/api/v1/conversations/${body.conversation_id}`;
		assert.equal((await server.call('DELETE', `${path}?purge=true`)).status, 200);
	}
	await until('every trace is gone', async () => (await traces()) === 0);
	// A repeat does not bring it back either.
	for (const { body } of sent.slice(0, 3)) {
		const key = { 'idempotency-key': body.id };
		const again = await server.call(
			'POST',
			`/api/v1/messages/${body.id}/feedback`,
			{ rating: 'up', comment: 'swordfish!' },
			key,
		);
		assert.deepEqual([again.status, again.body.error.code], [400, 'idempotency_key_reused']);
	}
});
