import assert from 'node:assert/strict';
import test from 'node:test';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { type ModelCall, ModelServer } from '../support/model-server.ts';

const TEXTS = [
	'The Lumen kettle is made of steel. It costs forty euros and is delivered within three days.',
	...['toaster', 'mug', 'lamp', 'chair', 'table', 'clock'].map(
		(thing) => `The Fenwick ${thing} costs thirty euros. This ${thing} costs less than last year.`,
	),
];

const isRewrite = ({ body }: ModelCall) => body.messages[0].content.startsWith('You write queries');

/** A server whose model writes this query, and otherwise replies. */
async function start(query: string, rewriteTimeoutMs?: number) {
	await using resources = new AsyncDisposableStack();
	const models = resources.use(await ModelServer.start());
	const overrides = rewriteTimeoutMs === undefined ? {} : { rewriteTimeoutMs };
	const app = resources.use(await startTestApp({ settings: { providers: [models.provider()] }, overrides }));
	const { deployment, assistant } = await createApiFixture(app, { texts: TEXTS, model: 'stand-in/small' });
	const configure = async (rag_settings: object) => {
		const { status } = await app.call('PATCH', `/api/v1/assistants/${assistant}`, { rag_settings });
		assert.equal(status, 200);
	};
	await configure({ top_k: 1, query_rewrite: 'auto' });
	const answer = [{ say: 'Reply.' }, { finish: 'stop' as const, usage: { input: 40, output: 9 } }];
	const written = [{ say: query }, { finish: 'stop' as const, usage: { input: 7, output: 3 } }];
	models.setDefault((call) => (isRewrite(call) ? written : answer));
	const send = async (content: string, conversation_id?: string) => {
		const body = { deployment_id: deployment, content, conversation_id };
		const sent = await app.call('POST', '/api/v1/messages', body);
		assert.deepEqual([sent.status, sent.body.content], [201, 'Reply.']);
		return sent.body;
	};
	const calls = () => models.calls.map((call) => (isRewrite(call) ? 'query' : 'reply'));
	const owned = resources.move();
	return { models, configure, send, calls, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

test('a model writes the query for a message that depends on the one before, and its tokens count', async () => {
	await using server = await start('How much does the Fenwick clock cost?');
	const { conversation_id } = await server.send('What is the Lumen kettle made of?');
	const { usage } = await server.send('And how much does the thing for the time cost?', conversation_id);
	assert.deepEqual(server.calls(), ['reply', 'query', 'reply']);
	const [, rewrite, reply] = server.models.calls;
	assert.match(rewrite?.body.messages[1].content, /user: What is the Lumen kettle made of\?\nassistant: Reply\./);
	assert.equal(rewrite?.body.messages.length, 2);
	assert.match(JSON.stringify(reply?.body.messages.at(-1)), /Fenwick clock.*And how much does the thing/);
	assert.deepEqual(usage, { input_tokens: 47, output_tokens: 12 });
});

test('the setting decides for which messages a model writes the query', async () => {
	await using server = await start('kettle');
	const { conversation_id } = await server.send('What is the Lumen kettle made of?');
	await server.configure({ query_rewrite: 'never' });
	await server.send('And how much does it cost?', conversation_id);
	assert.deepEqual(server.calls(), ['reply', 'reply']);
	await server.configure({ query_rewrite: 'always' });
	await server.send('What does the Fenwick chair cost?', conversation_id);
	assert.deepEqual(server.calls().slice(2), ['query', 'reply']);
});

for (const [what, query] of [
	['fails', null],
	['writes a long text', 'kettle '.repeat(100)],
	['writes several lines', 'kettle\nclock'],
] as const) {
	test(`the message itself is searched for if the model ${what} instead of a query`, async () => {
		await using server = await start(query ?? '');
		if (query === null) {
			server.models.setDefault((call) => (isRewrite(call) ? [{ status: 400 }] : [{ say: 'Reply.' }]));
		}
		const { conversation_id } = await server.send('What is the Lumen kettle made of?');
		const { usage } = await server.send('How much does it cost?', conversation_id);
		assert.deepEqual(server.calls(), ['reply', 'query', 'reply']);
		if (query !== null) assert.ok(usage.input_tokens > 40, 'its tokens count all the same');
		assert.match(JSON.stringify(server.models.calls[2]?.body.messages.at(-1)), /It costs forty euros/);
	});
}

test('the search goes on without a model that takes too long for its query', async () => {
	await using server = await start('clock', 50);
	server.models.setDefault((call) => (isRewrite(call) ? [{ hang: true }] : [{ say: 'Reply.' }]));
	const { conversation_id } = await server.send('What is the Lumen kettle made of?');
	await server.send('How much does it cost?', conversation_id);
	assert.match(JSON.stringify(server.models.calls[2]?.body.messages.at(-1)), /It costs forty euros/);
	assert.equal(await server.models.calls[1]?.callerLeft, true);
});
