import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

/** A deployment of an assistant with one document. */
async function deploymentOf(app: TestApp): Promise<string> {
	const create = async (path: string, body: object) => (await app.call('POST', path, body)).body;
	const { id: knowledge_base_id } = await create('/api/v1/knowledge-bases', { name: 'Kettles' });
	const content = 'The descaling programme of the Brook kettle takes 25 minutes and must not be interrupted.';
	await create(`/api/v1/knowledge-bases/${knowledge_base_id}/documents`, {
		source_type: 'text',
		title: 'Care',
		content,
	});
	await until('the text is indexed', async () => {
		const { body } = await app.call('GET', `/api/v1/knowledge-bases/${knowledge_base_id}/status`);
		return body.status === 'ready' && body.documents_indexed === 1;
	});
	const { id: assistant_id } = await create('/api/v1/assistants', {
		name: 'Guide',
		master_prompt: 'You sell kettles.',
	});
	await create(`/api/v1/assistants/${assistant_id}/knowledge-bases`, { knowledge_base_id });
	return (await create('/api/v1/deployments', { assistant_id })).id;
}

test('lists a configured provider, uses it as the default, and cites passages in its answers', async () => {
	await using models = await ModelServer.start();
	const small = { name: 'small', description: null, context_tokens: 16_000, max_output_tokens: null };
	const providers = [models.provider({ id: 'local', models: [small] }), models.provider({ id: 'open' })];
	await using app = await startTestApp({ settings: { providers, default_model: 'local/small' } });
	const { body: listed } = await app.call('GET', '/api/v1/models');
	assert.deepEqual(
		listed.data.map((model: Record<string, unknown>) => [model.id, model.context_tokens, model.default]),
		[
			['builtin/extractive', null, false],
			['local/small', 16_000, true],
			['open/*', 32_000, false],
		],
	);
	const deployment_id = await deploymentOf(app);
	assert.equal(models.calls.length, 0, 'nobody is asked before there is a question');
	models.enqueue([
		{ say: 'It takes 25 minutes [1]' },
		{ say: ', not more [7].' },
		{ finish: 'stop', usage: { input: 40, output: 9 } },
	]);
	const first = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'How long does descaling take?' });
	assert.equal(first.status, 201, JSON.stringify(first.body));
	assert.deepEqual([first.body.model, first.body.usage], ['local/small', { input_tokens: 40, output_tokens: 9 }]);
	assert.deepEqual(
		first.body.citations.map((citation: Record<string, unknown>) => [citation.index, citation.title]),
		[[1, 'Care']],
	);
	const { messages } = models.calls[0]?.body ?? {};
	assert.match(messages[0].content, /^You sell kettles\./);
	assert.match(
		messages[1].content,
		/^<passages-\w+>\n\[1\] Care\n> The descaling programme[\s\S]*How long does descaling take\?$/,
	);

	models.enqueue([{ say: 'Yes.' }]);
	const { conversation_id } = first.body;
	const second = await app.call('POST', '/api/v1/messages', { deployment_id, conversation_id, content: 'Sure?' });
	assert.equal(second.body.content, 'Yes.');
	const [, question, answer] = models.calls[1]?.body.messages ?? [];
	assert.deepEqual(
		[question.content, answer.content],
		['How long does descaling take?', 'It takes 25 minutes [1], not more [7].'],
	);
});

test('stores a reply that broke off as failed with its text, and answers the next message', async () => {
	await using models = await ModelServer.start();
	const providers = [models.provider({ id: 'local' })];
	await using app = await startTestApp({ settings: { providers, default_model: 'local/small' } });
	const deployment_id = await deploymentOf(app);
	models.enqueue([{ say: 'Half an ' }, { die: true }]);
	const failed = await app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello?' });
	assert.deepEqual([failed.status, failed.body.error.code], [500, 'model_error']);
	assert.match(failed.body.error.message, /broke off before the answer was complete/);
	const { body: conversations } = await app.call('GET', '/api/v1/conversations');
	const [conversation] = conversations.data;
	const { body: stored } = await app.call('GET', `/api/v1/conversations/${conversation.id}/messages`);
	assert.deepEqual(
		stored.data.map((message: Record<string, unknown>) => [message.role, message.status, message.content]),
		[
			['user', 'completed', 'Hello?'],
			['assistant', 'failed', 'Half an '],
		],
	);
	const sent = { deployment_id, conversation_id: conversation.id, content: 'Again?' };
	assert.equal((await app.call('POST', '/api/v1/messages', sent)).body.content, 'Hello.');
});

test('closes the connection of a stopped reply and keeps its text', async () => {
	await using models = await ModelServer.start();
	const providers = [models.provider({ id: 'local' })];
	await using app = await startTestApp({ settings: { providers, default_model: 'local/small' } });
	const deployment_id = await deploymentOf(app);
	models.enqueue([{ say: 'Half an ' }, { hang: true }]);
	const sent = app.call('POST', '/api/v1/messages', { deployment_id, content: 'Hello?' });
	const call = await models.call(0);
	const { body: conversations } = await app.call('GET', '/api/v1/conversations');
	await app.call('POST', `/api/v1/conversations/${conversations.data[0].id}/stop`);
	assert.equal(await call.callerLeft, true);
	assert.equal((await sent).body.status, 'stopped');
});
