import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createApiKey } from '../../src/access/index.ts';
import { startTestApp } from '../support/app.ts';
import { postgresProgram, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

test('a dump of PostgreSQL that was made while a node ran is restored into an empty database, with files and the search', {
	skip: skipWithoutPostgres,
}, async (t) => {
	const file = join(await temporaryFolder(t), 'parley.dump');
	await using server = await startPostgres();
	const key = createApiKey();
	const start = (database_url: string) => startTestApp({ key, settings: { database_url, secret_key: SECRET_KEY } });
	const text = 'The shop opens at nine in the morning.';
	let document = '';
	let conversation = '';
	let deployment_id = '';
	{
		await using node = await start(await server.database('source'));
		const { body: base } = await node.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
		const form = new FormData();
		form.set('file', new Blob([text]), 'hours.txt');
		const upload = await node.call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, form);
		assert.equal(upload.status, 201, JSON.stringify(upload.body));
		document = `/api/v1/knowledge-bases/${base.id}/documents/${upload.body.id}`;
		await until('the document is indexed', async () => {
			return (await node.call('GET', document)).body.status === 'indexed';
		});
		const { body: assistant } = await node.call('POST', '/api/v1/assistants', { name: 'Shop' });
		await node.call('POST', `/api/v1/assistants/${assistant.id}/knowledge-bases`, { knowledge_base_id: base.id });
		const deployment = await node.call('POST', '/api/v1/deployments', { assistant_id: assistant.id });
		deployment_id = deployment.body.id;
		const sent = await node.call('POST', '/api/v1/messages', { deployment_id, content: 'When does the shop open?' });
		assert.equal(sent.status, 201, JSON.stringify(sent.body));
		conversation = sent.body.conversation_id;
		await run(postgresProgram('pg_dump'), ['--format=custom', '--file', file, await server.database('source')]);
	}
	const restored = await server.database('restored');
	await run(postgresProgram('pg_restore'), ['--exit-on-error', '--dbname', restored, file]);

	await using node = await start(restored);
	const { body: messages } = await node.call('GET', `/api/v1/conversations/${conversation}/messages`);
	assert.deepEqual(
		messages.data.map(({ role }: { role: string }) => role),
		['user', 'assistant'],
	);
	const content = await fetch(`${node.url}${document}/content`, { headers: { authorization: `Bearer ${node.key}` } });
	assert.equal(await content.text(), text);
	const again = await node.call('POST', '/api/v1/messages', {
		...{ deployment_id, conversation_id: conversation, content: 'When does the shop open in the morning?' },
	});
	assert.equal(again.status, 201, JSON.stringify(again.body));
	assert.match(JSON.stringify(again.body), /opens at nine/);
});
