import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { ChatProvider, ModelEvent } from '../../src/models/index.ts';
import { createApiFixture, createResource, untilProcessed, untilSettled, upload } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { streamFrom } from '../support/model-events.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { assertDescribed, recordEvents, typesAndIds } from './event-recorder.ts';
import { assertSigned } from './receiver.ts';

/** What the model does in the first round of a reply; in the second it is done. */
let calls: ModelEvent[] = [];
const provider: ChatProvider = {
	id: 'scripted',
	models: null,
	chat: {
		stream: streamFrom(async function* ({ rounds }) {
			if (rounds.length === 0) yield* calls;
			else yield { type: 'delta', text: 'Done.' };
		}),
	},
};
const peer = await apiPeer();
const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { providers: [provider] } });
const ears = await recordEvents(app);
after(async () => {
	await app[Symbol.asyncDispose]();
	await ears[Symbol.asyncDispose]();
	await peer[Symbol.asyncDispose]();
});

const ASSISTANTS = '/api/v1/assistants';
const BASES = '/api/v1/knowledge-bases';
const TOOLS = '/api/v1/tools';
const orderStatus = () => ({
	name: 'order_status',
	type: 'api',
	config: {
		method: 'GET',
		url: `${peer.origin}/orders/{order}`,
		parameters: { type: 'object', properties: { order: { type: 'string' } } },
	},
});

test('emits every change of an assistant as it is then, and nothing without a change', async () => {
	const base = await createResource(app, BASES, { name: 'Shop' });
	const tool = await createResource(app, TOOLS, orderStatus());
	let path = '';
	assert.deepEqual(
		await ears.eventsFrom(async () => {
			path = `${ASSISTANTS}/${await createResource(app, ASSISTANTS, { name: 'Guide' })}`;
		}),
		[],
		'a new one has not changed',
	);
	const changes: Array<[method: string, path: string, body: unknown, told: boolean]> = [
		['PATCH', path, { name: 'Guide 2', master_prompt: 'Be brief.' }, true],
		['PATCH', path, { rag_settings: { top_k: 7 } }, true],
		['PATCH', path, {}, false],
		['PATCH', path, { status: 'active' }, false],
		['POST', `${path}/knowledge-bases`, { knowledge_base_id: base }, true],
		['POST', `${path}/knowledge-bases`, { knowledge_base_id: base }, false],
		['POST', `${path}/tools`, { tool_id: tool }, true],
		['POST', `${path}/tools`, { tool_id: tool }, false],
		['DELETE', `${path}/tools/${tool}`, undefined, true],
		['DELETE', `${path}/knowledge-bases/${base}`, undefined, true],
		['DELETE', path, undefined, true],
		['DELETE', path, undefined, false],
		['PATCH', path, { status: 'active' }, true],
		['PATCH', path, { status: 'archived' }, true],
		['GET', path, undefined, false],
	];
	for (const [method, at, body, isTold] of changes) {
		let shown: unknown;
		const events = await ears.eventsFrom(async () => {
			const answer = await app.call(method, at, body);
			assert.equal(answer.status, 200, JSON.stringify(answer.body));
			shown = answer.body;
		});
		assert.deepEqual(
			events.map(({ type, data }) => [type, data]),
			isTold ? [['assistant.updated', shown]] : [],
			`${method} ${at} ${JSON.stringify(body)}`,
		);
	}
});

test('a deletion emits every assistant that it was attached to', async () => {
	const base = await createResource(app, BASES, { name: 'Shop' });
	const tool = await createResource(app, TOOLS, orderStatus());
	const assistants = [
		await createResource(app, ASSISTANTS, { name: 'A' }),
		await createResource(app, ASSISTANTS, { name: 'B' }),
	];
	await createResource(app, ASSISTANTS, { name: 'Beside' });
	for (const id of assistants) {
		await app.call('POST', `${ASSISTANTS}/${id}/knowledge-bases`, { knowledge_base_id: base });
		await app.call('POST', `${ASSISTANTS}/${id}/tools`, { tool_id: tool });
	}
	for (const path of [`${BASES}/${base}`, `${TOOLS}/${tool}`]) {
		const events = await ears.eventsFrom(() => app.call('DELETE', path));
		assert.deepEqual(typesAndIds(events).toSorted(), assistants.map((id) => ['assistant.updated', id]).toSorted());
		for (const { data } of events) assert.deepEqual(data, (await app.call('GET', `${ASSISTANTS}/${data.id}`)).body);
	}
	const [a] = assistants;
	const { body } = await app.call('GET', `${ASSISTANTS}/${a}`);
	assert.deepEqual([body.knowledge_base_ids, body.tool_ids], [[], []]);
});

test('emits each indexing that leads to ready, with the fields of the indexing status', async () => {
	const base = await createResource(app, BASES, { name: 'Shop' });
	const path = `${BASES}/${base}`;
	const indexed = async (cause: () => Promise<unknown>) => {
		const events = await ears.eventsFrom(async () => {
			await cause();
			await untilSettled(app, base);
		});
		const [knowledgeBase, status] = [
			(await app.call('GET', path)).body,
			(await app.call('GET', `${path}/status`)).body,
		];
		for (const { type, data } of events) {
			// The training that follows is over by now, or was not due.
			const { trained_at } = data;
			assert.ok(trained_at === null || trained_at === status.trained_at);
			assert.deepEqual([type, data], ['knowledge_base.indexed', { ...knowledgeBase, ...status, trained_at }]);
		}
		return events.length;
	};
	let first = '';
	const add = async (content: string) => {
		first = await createResource(app, `${path}/documents`, { source_type: 'text', content });
	};
	assert.equal(await indexed(() => add('The shop opens at nine.')), 1);
	assert.equal(await indexed(() => app.call('POST', `${path}/documents/${first}/retry`)), 1);
	assert.equal(await indexed(() => app.call('POST', `${path}/reindex`)), 1);
	assert.equal(await indexed(() => app.call('PATCH', path, { name: 'The shop' })), 0);

	const broken = `%PDF-1.7\n${'1 0 obj << /Type /Catalog /Pages 9 0 R >> endobj\n'.repeat(3)}trailer << /Root 1 0 R >>`;
	let failed = '';
	const failing = await indexed(async () => {
		failed = (await upload(app, base, 'broken.pdf', { bytes: broken })).body.id;
		assert.equal((await untilProcessed(app, base, failed)).status, 'error');
	});
	assert.equal(failing, 0, 'an error is not ready');
	assert.equal(await indexed(() => app.call('DELETE', `${path}/documents/${failed}`)), 1);
	assert.equal(await indexed(() => app.call('DELETE', `${path}/documents/${first}`)), 0, 'it was ready before');
});

test('emits a failed tool call with its conversation and reply, and no successful one', async () => {
	const { deployment, assistant } = await createApiFixture(app, { model: 'scripted/any' });
	const tool = await createResource(app, TOOLS, orderStatus());
	await app.call('POST', `${ASSISTANTS}/${assistant}/tools`, { tool_id: tool });
	peer.respond = (response, { url }) =>
		url.endsWith('/lost')
			? response.writeHead(500).end('out of order')
			: response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"shipped"}');
	const call = (order: string): ModelEvent => ({
		type: 'tool_call',
		id: `call ${order}`,
		name: 'order_status',
		arguments: { order },
	});
	calls = [call('4711'), call('lost'), { type: 'tool_call', id: 'odd', name: 'no_such_tool', arguments: {} }];
	// biome-ignore lint/suspicious/noExplicitAny: an answer of the API
	let reply: any;
	const events = await ears.eventsFrom(async () => {
		const { status, body } = await app.call('POST', '/api/v1/messages', {
			deployment_id: deployment,
			content: 'Where?',
		});
		assert.equal(status, 201, JSON.stringify(body));
		reply = body;
	});
	assert.deepEqual(
		events.map(({ type }) => type),
		['conversation.created', 'message.created', 'tool.execution_failed', 'message.created'],
	);
	const failure = reply.tool_calls.find(({ id }: { id: string }) => id === 'call lost');
	assert.deepEqual(events[2]?.data, {
		tool_id: tool,
		tool_name: 'order_status',
		conversation_id: reply.conversation_id,
		message_id: reply.id,
		error: failure.result,
	});
	assert.match(failure.result, /500/);

	assert.deepEqual(
		await ears.eventsFrom(() => app.call('POST', `${TOOLS}/${tool}/test`, { arguments: { order: 'lost' } })),
		[],
		'trying a tool out is no conversation',
	);
});

test('a ping has the form and signature of a delivery and is not in the event log', async () => {
	const { receiver } = ears;
	const before = receiver.received.length;
	assert.deepEqual(
		await ears.eventsFrom(async () => {
			const { body } = await app.call('POST', `${receiver.path}/test`);
			assert.equal(body.delivered, true, JSON.stringify(body));
		}),
		[],
	);
	const [ping, ...more] = receiver.received.slice(before);
	assert.equal(more.length, 0);
	assert.ok(ping);
	assertSigned(ping, receiver.signing_secret);
	assertDescribed(ping.event);
	assert.deepEqual([ping.event.type, ping.event.data], ['ping', { webhook_id: receiver.id }]);
});
