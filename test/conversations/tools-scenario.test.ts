import assert from 'node:assert/strict';
import test from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { createApiFixture, createResource, untilSettled, upload } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { exampleServer, freePort } from '../tools/mcp-example-server.ts';
import { ClientView, follow, isNamed, openTestStream, sendStreamed } from './streams.ts';

const TOKEN = 'orders-token-8d1f0c';
const QUESTION = 'My name is Ada. Where is order 4711, and how long does the warranty on the heating element run?';
const ANSWER = 'Hello, Ada! Order 4711 is on its way, and the warranty on its heating element runs for 5 years [1].';

test('one streamed reply calls an API and an MCP server at once, and cites the document that it rests on', async () => {
	await using models = await ModelServer.start();
	await using orders = await apiPeer();
	await using greeter = await exampleServer(await freePort());
	await using app = await startTestApp({
		settings: {
			allow_private_network: true,
			providers: [models.provider({ id: 'local' })],
			default_model: 'local/small',
		},
	});

	// Everything is made through the API.
	const { knowledgeBase, assistant, deployment } = await createApiFixture(app);
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { master_prompt: 'You serve Hollowbrook Kettles.' });
	const warranty = (await upload(app, knowledgeBase, 'warranty-and-repair.md')).body.id;
	await upload(app, knowledgeBase, 'privacy.txt');
	assert.equal((await untilSettled(app, knowledgeBase)).documents_indexed, 2);
	const orderTool = await createResource(app, '/api/v1/tools', {
		name: 'order_status',
		description: 'Where an order is.',
		type: 'api',
		config: {
			method: 'GET',
			url: `${orders.origin}/v1/orders/{order}`,
			query: { lang: '{language}' },
			parameters: {
				type: 'object',
				properties: { order: { type: 'string' }, language: { type: 'string' } },
				required: ['order'],
			},
			auth: { type: 'bearer', token: TOKEN },
		},
	});
	const greetTool = await createResource(app, '/api/v1/tools', {
		name: 'people',
		type: 'mcp',
		config: { url: greeter.url, allowed_tools: ['greet'], timeout_ms: 30_000 },
	});
	for (const tool_id of [orderTool, greetTool]) {
		assert.equal((await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id })).status, 200);
	}

	// The order is returned only after the test has seen that the other call has ended.
	const told = deferred<void>();
	orders.respond = (response) => {
		void told.promise.then(() =>
			response.setHeader('content-type', 'application/json').end('{"state":"on its way","parcel":"PX-99"}'),
		);
	};
	const more = deferred<void>();
	models.enqueue(
		[
			{ call: { id: 'call_order', name: 'order_status', arguments: { order: '4711', language: 'en' } } },
			{ call: { id: 'call_greet', name: 'people_greet', arguments: { name: 'Ada' } }, pieces: 3 },
			{ finish: 'tool_calls', usage: { input: 400, output: 30 } },
		],
		[
			{ say: ANSWER.slice(0, 40) },
			{ wait: more.promise },
			{ say: ANSWER.slice(40) },
			{ finish: 'stop', usage: { input: 520, output: 25 } },
		],
	);

	await using stream = await sendStreamed(app, { deployment_id: deployment, content: QUESTION });
	const calling = await stream.until(isNamed('tool.completed'));
	assert.deepEqual(
		calling.map(({ event, data }) => [event, data.tool_call?.name ?? data.message.role]),
		[
			['message.created', 'user'],
			['message.created', 'assistant'],
			['tool.started', 'order_status'],
			['tool.started', 'people_greet'],
			['tool.completed', 'people_greet'],
		],
	);
	const conversation: string = calling[0]?.data.message.conversation_id;
	const replyId: string = calling[1]?.data.message.id;

	// A follower that returns while the tools run gets the missed events. A visitor gets fewer of their fields.
	await using resumed = await follow(app, conversation, calling[0]?.id);
	const missed = await resumed.until(isNamed('tool.completed'));
	assert.deepEqual(missed, calling.slice(1));
	const widget = `/api/v1/widget/conversations/${conversation}`;
	const ofVisitor = `?deployment_id=${deployment}`;
	await using visitor = await openTestStream(`${app.url}${widget}/events${ofVisitor}`, {
		headers: { origin: ORIGIN, 'last-event-id': calling[0]?.id ?? '' },
	});
	const visitorMissed = await visitor.until(isNamed('tool.completed'));
	assert.deepEqual(
		visitorMissed.map(({ id, event }) => [id, event]),
		missed.map(({ id, event }) => [id, event]),
	);

	told.resolve();
	const begun = await stream.until(({ data }) => data.delta?.length > 0);
	more.resolve();
	const events = [...calling, ...begun, ...(await stream.rest())];
	const names = events.map(({ event }) => event);
	assert.deepEqual(names.slice(5, 7), ['tool.completed', 'message.delta']);
	assert.ok(names.slice(6, -1).every((name) => name === 'message.delta'));
	assert.equal(names.at(-1), 'message.completed');
	assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'every event can be resumed from');
	new ClientView().show(events.filter(({ event }) => !event?.startsWith('tool.')));
	const texts = events.filter(({ event }) => event === 'message.delta').map(({ data }) => data.delta);
	assert.equal(texts.join(''), ANSWER);

	const rest = [...missed, ...(await resumed.until(isNamed('message.completed')))];
	assert.deepEqual(rest.at(-1), events.at(-1));
	const seenByVisitor = [...visitorMissed, ...(await visitor.until(isNamed('message.completed')))];

	// What is stored is what was told last.
	const { message } = events.at(-1)?.data ?? {};
	const { body: history } = await app.call('GET', `/api/v1/conversations/${conversation}/messages`);
	assert.equal(history.data.length, 2);
	assert.deepEqual(history.data[1], message);
	assert.deepEqual(
		[message.id, message.content, message.status, message.model, message.error, message.usage],
		[replyId, ANSWER, 'completed', 'local/small', null, { input_tokens: 920, output_tokens: 55 }],
	);
	assert.equal(message.citations.length, 1);
	const [citation] = message.citations;
	assert.deepEqual([citation.index, citation.document_id, citation.title], [1, warranty, 'Warranty and repair']);
	assert.match(citation.text, /For the heating element it is \W*5 years/);
	assert.ok(citation.score > 0 && citation.score <= 1);
	assert.deepEqual(
		message.tool_calls
			.map(({ duration_ms, ...call }: { duration_ms: number }) => {
				assert.ok(duration_ms >= 0);
				return call;
			})
			.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1)),
		[
			{
				id: 'call_order',
				tool_id: orderTool,
				name: 'order_status',
				arguments: { order: '4711', language: 'en' },
				result: '{"state":"on its way","parcel":"PX-99"}',
				status: 'completed',
			},
			{
				id: 'call_greet',
				tool_id: greetTool,
				name: 'people_greet',
				arguments: { name: 'Ada' },
				result: 'Hello, Ada!',
				status: 'completed',
			},
		],
	);

	// The peers were asked once each, as their tools say.
	assert.deepEqual(
		orders.requests.map(({ method, url, headers }) => [method, url, headers.authorization]),
		[['GET', '/v1/orders/4711?lang=en', `Bearer ${TOKEN}`]],
	);

	// What the model was sent: its tools, the sources apart from the question, then what its calls gave.
	assert.equal(models.calls.length, 2);
	const [asked, again] = models.calls.map(({ body }) => body);
	assert.deepEqual(
		asked.tools.map((tool: { function: { name: string } }) => tool.function.name),
		['order_status', 'people_greet'],
	);
	assert.deepEqual(asked.tools[0].function.parameters.required, ['order']);
	assert.deepEqual(again.tools, asked.tools);
	const [system, question, ...steps] = again.messages;
	assert.deepEqual([system, question], asked.messages);
	assert.match(system.content, /^You serve Hollowbrook Kettles\./);
	const [, key, block, after] =
		/^<passages-(\w+)>\n([\s\S]*)\n<\/passages-\1>\n\n([\s\S]*)$/.exec(question.content) ?? [];
	assert.ok(key);
	assert.match(block ?? '', /^\[1\] Warranty and repair \| section: [^\n]*\n> [^\n]*5 years/m);
	assert.ok(block?.split('\n').every((line) => line === '' || /^(\[\d+\] |> ?)/.test(line)));
	assert.equal(after, QUESTION);
	assert.deepEqual(
		steps.map((step: Record<string, unknown>) => [step.role, step.tool_call_id, step.content || null]),
		[
			['assistant', undefined, null],
			['tool', 'call_order', '{"state":"on its way","parcel":"PX-99"}'],
			['tool', 'call_greet', 'Hello, Ada!'],
		],
	);
	assert.deepEqual(
		steps[0].tool_calls.map((call: { id: string; function: { name: string; arguments: string } }) => [
			call.id,
			call.function.name,
			JSON.parse(call.function.arguments),
		]),
		[
			['call_order', 'order_status', { order: '4711', language: 'en' }],
			['call_greet', 'people_greet', { name: 'Ada' }],
		],
	);

	// Once it has ended, the whole turn replays as its two messages.
	await using replay = await follow(app, conversation, '0.0');
	const replayed = await replay.until(isNamed('message.completed'));
	assert.deepEqual(
		replayed.map(({ event, data }) => [event, data.message.content]),
		[
			['message.created', QUESTION],
			['message.completed', ANSWER],
		],
	);
	assert.deepEqual(replayed.at(-1), events.at(-1));

	// The visitor goes on in the same conversation, and the model knows what was said.
	models.enqueue([{ say: 'You are welcome.' }]);
	await using next = await openTestStream(`${app.url}/api/v1/widget/messages`, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json' },
		body: JSON.stringify({
			deployment_id: deployment,
			conversation_id: conversation,
			content: 'Thank you.',
			stream: true,
		}),
	});
	const thanked = await next.rest();
	assert.deepEqual(
		[
			thanked.map(({ event }) => event).filter((name) => name !== 'message.delta'),
			thanked.at(-1)?.data.message.content,
		],
		[['message.created', 'message.created', 'message.completed'], 'You are welcome.'],
	);
	const third = models.calls[2]?.body.messages;
	assert.deepEqual(
		third.map(({ role }: { role: string }) => role),
		['system', 'user', 'assistant', 'user'],
	);
	assert.deepEqual([third[1].content, third[2].content], [QUESTION, ANSWER]);
	assert.match(third[3].content, /Thank you\.$/);

	// Visitors see that tools were called, what was answered and on what it rests, and no more.
	const { body: visible } = await app.callAsVisitor('GET', `${widget}/messages${ofVisitor}`);
	assert.equal(visible.data.length, 4);
	const shown = visible.data[1];
	assert.deepEqual(seenByVisitor.at(-1)?.data.message, shown);
	// Visitors do not get the ids of the passage.
	const { chunk_id: _chunk, knowledge_base_id: _base, ...forVisitors } = citation;
	assert.deepEqual([shown.content, shown.citations], [ANSWER, [forVisitors]]);
	assert.deepEqual(shown.tool_calls.map(Object.keys), [
		['id', 'name', 'status'],
		['id', 'name', 'status'],
	]);
	const whatVisitorsSaw = JSON.stringify([seenByVisitor, thanked, visible]);
	assert.doesNotMatch(whatVisitorsSaw, /"arguments"|"result"|"usage"|"model"\s*:|PX-99|duration_ms/);
	const everything = JSON.stringify([events, history, models.calls.map(({ body }) => body), whatVisitorsSaw]);
	assert.ok(!everything.includes(TOKEN), 'the secret of a tool goes to its peer alone');

	const { body: record } = await app.call('GET', `/api/v1/conversations/${conversation}`);
	assert.deepEqual([record.title?.startsWith('My name is Ada.'), record.message_count], [true, 4]);
});
