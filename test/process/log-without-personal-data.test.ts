import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelServer } from '../support/model-server.ts';
import { startServer } from '../support/server-process.ts';

test('the log has no contact data of a request that a provider quotes in its error', async () => {
	await using models = await ModelServer.start();
	const provider = { id: 'stand-in', type: 'openai-compatible', base_url: models.baseUrl };
	const env = { PARLEY_PROVIDERS: JSON.stringify([provider]), PARLEY_LOG_LEVEL: 'debug' };
	await using server = await startServer({ env });
	const create = async (path: string, body: object) => (await server.call('POST', path, body)).body.id;
	const assistant_id = await create('/api/v1/assistants', { name: 'Guide', model: 'stand-in/small' });
	const deployment_id = await create('/api/v1/deployments', { assistant_id, allowed_domains: [] });
	models.setDefault(({ body }) => {
		const message = `Invalid value: "${body.messages.at(-1).content}".`;
		return [{ status: 400, body: JSON.stringify({ error: { message } }) }];
	});
	const content = 'I am ada.canary@example.com, +44 7700 900123, 4111 1111 1111 1111';
	assert.equal((await server.call('POST', '/api/v1/messages', { deployment_id, content })).status, 500);
	await server.stop();
	const output = server.output();
	assert.match(output, /Invalid value: \\"I am \[email\], \[phone\], \[card\]\\"/);
	assert.doesNotMatch(output, /canary|900123|4111/);
});
