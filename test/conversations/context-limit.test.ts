import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture, createResource, untilSettled } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { mcpPeer, textResult } from '../tools/mcp-peer.ts';

const models = await ModelServer.start();
const peer = await apiPeer();
const app = await startTestApp({
	settings: {
		allow_private_network: true,
		providers: [
			models.provider({ id: 'narrow', context_tokens: 2_048 }),
			models.provider({ id: 'usual', context_tokens: 8_192 }),
		],
		default_model: 'usual/small',
	},
});
after(async () => {
	await app[Symbol.asyncDispose]();
	await models[Symbol.asyncDispose]();
	await peer[Symbol.asyncDispose]();
});

interface Cited {
	index: number;
}

/** The numbers of the passages in the last question that the model was asked. */
function shownNumbers(): number[] {
	const messages: { role: string; content: string }[] = models.calls.at(-1)?.body.messages ?? [];
	const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
	return [...asked.matchAll(/^\[(\d+)\] /gm)].map((match) => Number(match[1]));
}

test('a reply cites only passages that its model was given', async () => {
	const { assistant, deployment, knowledgeBase } = await createApiFixture(app, { model: 'narrow/small' });
	for (let number = 1; number <= 4; number++) {
		await createResource(app, `/api/v1/knowledge-bases/${knowledgeBase}/documents`, {
			source_type: 'text',
			title: `Kettle ${number}`,
			content: `The kettle ${number} boils water and is made of steel, says page ${number}. `.repeat(12),
		});
	}
	assert.equal((await untilSettled(app, knowledgeBase)).documents_indexed, 4);
	const ask = (content: string) => app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
	models.enqueue([{ say: 'Steel [1][2][3][4][5].' }]);
	const { body } = await ask('What is the kettle made of?');
	const shown = shownNumbers();
	assert.ok(shown.length > 0 && shown.length < 4, `of four passages ${shown} were given`);
	assert.deepEqual(
		body.citations.map(({ index }: Cited) => index),
		shown,
	);
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { model: 'usual/small' });
	models.enqueue([{ say: 'Steel [1][2][3][4][5].' }]);
	const wide = await ask('What is the kettle made of?');
	assert.deepEqual(
		wide.body.citations.map(({ index }: Cited) => index),
		[1, 2, 3, 4],
	);
});

test('a reply that continues after a failure cites the passages that its text is based on', async () => {
	const { assistant, deployment, knowledgeBase } = await createApiFixture(app);
	const tool_id = await createResource(app, '/api/v1/tools', {
		name: 'look',
		type: 'api',
		config: { url: peer.origin, method: 'GET' },
	});
	await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id });
	const text = (title: string, content: string) =>
		createResource(app, `/api/v1/knowledge-bases/${knowledgeBase}/documents`, { source_type: 'text', title, content });
	const old = await text('Old', 'The warranty on the heating element lasts three years.');
	await untilSettled(app, knowledgeBase);
	models.enqueue(
		[{ say: 'Three years [1].' }, { call: { id: 'a', name: 'look', arguments: {} } }],
		[{ status: 400, body: '{}' }],
	);
	const body = { deployment_id: deployment, content: 'How long is the warranty on the heating element?' };
	const headers = { 'idempotency-key': 'cites' };
	assert.equal((await app.call('POST', '/api/v1/messages', body, headers)).status, 500);
	await app.call('DELETE', `/api/v1/knowledge-bases/${knowledgeBase}/documents/${old}`);
	await text('New', 'The warranty on the heating element lasts nine years.');
	await untilSettled(app, knowledgeBase);
	models.enqueue([{ say: 'That is all.' }]);
	const again = await app.call('POST', '/api/v1/messages', body, headers);
	assert.equal(again.body.content, 'Three years [1].\n\nThat is all.');
	assert.deepEqual(
		again.body.citations.map(({ title }: { title: string }) => title),
		['Old'],
	);
});

test('omits a tool that is too large for the model, and still answers', async () => {
	const functions = Array.from({ length: 40 }, (_, at) => [
		`f${at}`,
		{ description: 'word '.repeat(60), call: () => textResult('Done.') },
	]);
	await using server = await mcpPeer(Object.fromEntries(functions));
	const { assistant, deployment } = await createApiFixture(app);
	const properties = Object.fromEntries(
		Array.from({ length: 120 }, (_, at) => [
			`field_${at}`,
			{ type: 'string', description: 'As the customer gave it.' },
		]),
	);
	const attach = async (name: string, type: string, config: object) => {
		const tool_id = await createResource(app, '/api/v1/tools', { name, type, config });
		assert.equal((await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id })).status, 200);
	};
	await attach('server', 'mcp', { url: server.url });
	await attach('huge', 'api', { method: 'GET', url: peer.origin, parameters: { type: 'object', properties } });
	await attach('small', 'api', { method: 'GET', url: peer.origin });
	models.enqueue([{ say: 'Good morning.' }]);
	const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hi' });
	assert.deepEqual([status, body.content], [201, 'Good morning.']);
	const names: string[] = models.calls
		.at(-1)
		?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
	assert.deepEqual([names[0], names[1], names.includes('huge')], ['small', 'server_f0', false]);
	assert.ok(names.length > 5 && names.length < 41, 'as many functions of the server as there is room for');
});
