import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { openTestStream } from './streams.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const shop = await createApiFixture(app, {
	texts: ['# Returns\n\nYou have 45 days to return an order. The parcel label is free.'],
});
const question = { deployment_id: shop.deployment, content: 'How many days do I have to return an order?' };
const VISITOR_FIELDS = ['document_id', 'index', 'page', 'score', 'text', 'title', 'url'];

test('a citation names the knowledge base and the chunk, which the list of chunks has', async () => {
	const { body } = await app.call('POST', '/api/v1/messages', question);
	const [citation] = body.citations;
	assert.deepEqual(Object.keys(citation).sort(), [...VISITOR_FIELDS, 'chunk_id', 'knowledge_base_id'].sort());
	assert.equal(citation.knowledge_base_id, shop.knowledgeBase);
	const path = `/api/v1/knowledge-bases/${citation.knowledge_base_id}/documents/${citation.document_id}/chunks`;
	const chunks = (await app.call('GET', path)).body.data;
	const chunk = chunks.find(({ id }: { id: string }) => id === citation.chunk_id);
	assert.equal(chunk.text, citation.text);
	const suggested = await app.call('POST', `/api/v1/conversations/${body.conversation_id}/suggest-reply`);
	assert.equal(suggested.body.citations[0].chunk_id, citation.chunk_id);
});

test('a message from before these fields shows null in them', async () => {
	const { body } = await app.call('POST', '/api/v1/messages', question);
	await using store = await openStoreDirectly(app);
	const record = await store.get('messages', body.id);
	assert.ok(record);
	const citations = record.citations.map(({ knowledge_base_id: _base, chunk_id: _chunk, ...former }) => former);
	await store.commit({ write: [{ op: 'patch', kind: 'messages', id: body.id, set: { citations } }] });
	const path = `/api/v1/conversations/${body.conversation_id}/messages`;
	const [, reply] = (await app.call('GET', path)).body.data;
	const [{ knowledge_base_id, chunk_id, ...former }] = reply.citations;
	assert.deepEqual([knowledge_base_id, chunk_id, former], [null, null, citations[0]]);
});

test('visitors get neither: not in the reply, not in the list, not in the stream', async () => {
	const send = (body: object) => app.callAsVisitor('POST', '/api/v1/widget/messages', { ...question, ...body });
	const { body } = await send({});
	const list = await app.callAsVisitor(
		'GET',
		`/api/v1/widget/conversations/${body.conversation_id}/messages?deployment_id=${shop.deployment}`,
	);
	const stream = await openTestStream(`${app.url}/api/v1/widget/messages`, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json', accept: 'text/event-stream' },
		body: JSON.stringify({ ...question, stream: true }),
	});
	const events = await stream.rest();
	const ended = events.findLast(({ event }) => event === 'message.completed');
	const streamed = ended?.data.message;
	for (const message of [body, list.body.data[1], streamed]) {
		assert.deepEqual(Object.keys(message.citations[0]).sort(), VISITOR_FIELDS);
	}
	for (const text of [body, list.body, events].map((each) => JSON.stringify(each))) {
		assert.doesNotMatch(text, /knowledge_base|chunk_id|kb_/);
	}
});
