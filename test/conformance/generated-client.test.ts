import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import test, { after } from 'node:test';
import createClient from 'openapi-fetch';
import type { components, paths } from '../../.build/openapi/client.d.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { ApiDescription, type OpenApiDocument } from '../support/openapi.ts';
import { until } from '../support/until.ts';

// The client's types are made from the API's description by openapi-typescript, before the tests and before the type check;
// openapi-fetch sends what they allow. So the type check detects a description that does not match the calls here, and this
// test detects a description that does not match the server.

type Message = components['schemas']['Message'];
type StreamEvent = components['schemas']['StreamEvent'];

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const api = new ApiDescription((await (await fetch(`${app.url}/api/openapi.json`)).json()) as OpenApiDocument);
const client = createClient<paths>({ baseUrl: app.url, headers: { authorization: `Bearer ${app.key}` } });
const visitor = createClient<paths>({ baseUrl: app.url });
const origin = { Origin: ORIGIN };

/** The result of an operation; its error fails the test. */
function dataOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
	if (data === undefined) assert.fail(`${response.url} answered ${response.status} ${JSON.stringify(error)}`);
	return data;
}

async function indexedSamples(): Promise<string> {
	const { id } = dataOf(await client.POST('/api/v1/knowledge-bases', { body: { name: 'Hollowbrook Kettles' } }));
	const samples = new URL('../../data/samples/', import.meta.url);
	const files = [
		'brook-kettle-manual.pdf',
		'shipping-and-returns.docx',
		'visit-and-contact.html',
		'warranty-and-repair.md',
		'privacy.txt',
	];
	for (const name of files) {
		const file = await openAsBlob(new URL(name, samples));
		const document = dataOf(
			await client.POST('/api/v1/knowledge-bases/{id}/documents', {
				params: { path: { id } },
				body: { file: name },
				bodySerializer() {
					const form = new FormData();
					form.set('file', file, name);
					return form;
				},
			}),
		);
		assert.equal(document.source_type, 'file');
	}
	await until('the samples are indexed', async () => {
		const { status } = dataOf(await client.GET('/api/v1/knowledge-bases/{id}/status', { params: { path: { id } } }));
		assert.notEqual(status, 'error');
		return status === 'ready';
	});
	return id;
}

test('runs the tour with a client generated from the description, from documents to a cited reply on a website', async () => {
	const knowledge_base_id = await indexedSamples();
	const list = dataOf(
		await client.GET('/api/v1/knowledge-bases/{id}/documents', {
			params: { path: { id: knowledge_base_id }, query: { limit: 2, order: 'asc' } },
		}),
	);
	assert.equal(list.data.length, 2);
	const rest = dataOf(
		await client.GET('/api/v1/knowledge-bases/{id}/documents', {
			params: { path: { id: knowledge_base_id }, query: { cursor: list.next_cursor as string, order: 'asc' } },
		}),
	);
	assert.deepEqual([rest.data.length, rest.next_cursor], [3, null]);
	const found = dataOf(
		await client.POST('/api/v1/knowledge-bases/{id}/search', {
			params: { path: { id: knowledge_base_id } },
			body: { query: 'How many days to return an order?', top_k: 3 },
		}),
	);
	assert.ok(
		found.data.some(({ text, score }) => /45 days/.test(text) && score > 0),
		JSON.stringify(found.data),
	);

	const assistant = dataOf(
		await client.POST('/api/v1/assistants', {
			params: { header: { 'Idempotency-Key': 'the-tour' } },
			body: { name: 'Kettle help', rag_settings: { top_k: 4 } },
		}),
	);
	const attached = dataOf(
		await client.POST('/api/v1/assistants/{id}/knowledge-bases', {
			params: { path: { id: assistant.id } },
			body: { knowledge_base_id },
		}),
	);
	assert.deepEqual(attached.knowledge_base_ids, [knowledge_base_id]);
	const deployment = dataOf(
		await client.POST('/api/v1/deployments', {
			body: { assistant_id: assistant.id, allowed_domains: ['shop.example'] },
		}),
	);

	const whole = dataOf(
		await client.POST('/api/v1/messages', {
			body: { deployment_id: deployment.id, content: 'How many days do I have to return an order?', stream: false },
		}),
	) as components['schemas']['MessageReply'];
	assert.match(whole.content, /45 days/);
	const [cited] = whole.citations;
	assert.equal(cited?.title, 'Shipping and returns');
	assert.ok(whole.content.includes(`[${cited.index}]`), whole.content);
	assert.equal(whole.user_message.role, 'user');

	const streamed = await client.POST('/api/v1/messages', {
		body: {
			deployment_id: deployment.id,
			conversation_id: whole.conversation_id,
			content: 'What does error code E3 mean?',
			stream: true,
		},
		parseAs: 'stream',
	});
	const ids: string[] = [];
	const reply = await replyIn(streamed.response, 'StreamEvent', ids);
	assert.match(reply.content, /temperature sensor/);
	const resumed = await client.GET('/api/v1/conversations/{id}/events', {
		params: { path: { id: whole.conversation_id }, header: { 'Last-Event-ID': ids[0] } },
		parseAs: 'stream',
	});
	assert.deepEqual(await replyIn(resumed.response), reply);

	const messages = dataOf(
		await client.GET('/api/v1/conversations/{id}/messages', { params: { path: { id: whole.conversation_id } } }),
	);
	assert.deepEqual(
		messages.data.map(({ role }) => role),
		['user', 'assistant', 'user', 'assistant'],
	);
	const rated = dataOf(
		await client.POST('/api/v1/messages/{id}/feedback', { params: { path: { id: reply.id } }, body: { rating: 'up' } }),
	);
	assert.equal(rated.feedback, 'up');

	const config = dataOf(
		await visitor.GET('/api/v1/widget/config', { params: { query: { deployment_id: deployment.id }, header: origin } }),
	);
	assert.equal(config.assistant_id, assistant.id);
	const asked = await visitor.POST('/api/v1/widget/messages', {
		params: { header: origin },
		body: { deployment_id: deployment.id, content: 'When is the shop open on Saturday?', stream: true },
		parseAs: 'stream',
	});
	const response = await replyIn(asked.response, 'WidgetStreamEvent');
	assert.match(response.content, /10:00 to 16:00/);
	const history = dataOf(
		await visitor.GET('/api/v1/widget/conversations/{id}/messages', {
			params: { path: { id: response.conversation_id }, query: { deployment_id: deployment.id }, header: origin },
		}),
	);
	assert.equal(history.data[1]?.id, response.id);
});

test('shows errors, versions and repeats to a generated client as described', async () => {
	const header = { 'Idempotency-Key': 'once' };
	const first = await client.POST('/api/v1/knowledge-bases', { params: { header }, body: { name: 'Once' } });
	const again = await client.POST('/api/v1/knowledge-bases', { params: { header }, body: { name: 'Once' } });
	assert.equal(dataOf(again).id, dataOf(first).id);
	assert.equal(again.response.headers.get('idempotent-replayed'), 'true');

	const path = { id: dataOf(first).id };
	const etag = first.response.headers.get('etag') as string;
	const fresh = await client.GET('/api/v1/knowledge-bases/{id}', {
		params: { path, header: { 'If-None-Match': etag } },
	});
	assert.equal(fresh.response.status, 304);
	const body = { description: 'Changed' };
	dataOf(await client.PATCH('/api/v1/knowledge-bases/{id}', { params: { path, header: { 'If-Match': etag } }, body }));
	const late = await client.PATCH('/api/v1/knowledge-bases/{id}', {
		params: { path, header: { 'If-Match': etag } },
		body,
	});
	assert.equal(late.error?.error.code, 'precondition_failed');

	const removed = dataOf(await client.DELETE('/api/v1/knowledge-bases/{id}', { params: { path } }));
	assert.deepEqual(removed, { ...path, deleted: true });
	const { error } = await client.GET('/api/v1/knowledge-bases/{id}', { params: { path } });
	assert.equal(error?.error.code, 'not_found');
	const unauthenticated = await visitor.GET('/api/v1/assistants');
	assert.equal(unauthenticated.error?.error.code, 'unauthorized');
});

test('serves the description from which the client was generated', async () => {
	const built = JSON.parse(await readFile(new URL('../../.build/openapi/openapi.json', import.meta.url), 'utf8'));
	assert.deepEqual(api.document, built, 'run the tests by "npm test"');
});

/**
 * The next reply in a stream. Its events are validated against the description.
 * @param schema the name of the events' schema
 * @param seen receives the events' ids, for resuming
 */
async function replyIn(
	response: Response,
	schema: 'StreamEvent' | 'WidgetStreamEvent' = 'StreamEvent',
	seen: string[] = [],
): Promise<Message> {
	let text = '';
	for await (const { id, event: name, data } of eventsOf(response)) {
		assert.equal(api.check({ $ref: `#/components/schemas/${schema}` })(data), null, JSON.stringify(data));
		assert.equal(name, data.type);
		seen.push(id as string);
		const event: StreamEvent = data;
		if (event.type === 'message.delta') text += event.delta;
		if (event.type === 'message.failed') assert.fail(event.error.message);
		if (event.type !== 'message.completed') continue;
		// A reply that had ended before is replayed as this event only.
		if (text !== '') assert.equal(event.message.content, text);
		return event.message;
	}
	return assert.fail('the stream ended without its reply');
}
