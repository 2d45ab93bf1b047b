import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openTestStream } from '../conversations/streams.ts';
import { startTestApp } from '../support/app.ts';
import type { ReceivedEvent } from '../support/event-stream.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const BASES = '/api/v1/knowledge-bases';

function followEvents(query: string, key = app.key) {
	return openTestStream(`${app.url}/api/v1/events?stream=true${query}`, {
		headers: { authorization: `Bearer ${key}` },
	});
}

const addText = (base: string, content: string) =>
	createResource(app, `${BASES}/${base}/documents`, { source_type: 'text', title: 'A text', content });

test('reports a document until it is indexed, and its knowledge base, as the API shows them', async () => {
	const base = await createResource(app, BASES, { name: 'Shop' });
	await using stream = await followEvents('&notices=true');
	const document = await addText(base, 'The warranty lasts three years.');
	const events = await stream.until(
		({ event, data }) => event === 'document.updated' && data.data.status === 'indexed',
	);
	const notices = events.filter(({ event }) => event === 'document.updated');
	assert.ok(notices.every(({ id, data }) => !id && data.type === 'document.updated' && data.data.id === document));
	const { body } = await app.call('GET', `${BASES}/${base}/documents/${document}`);
	assert.deepEqual(notices.at(-1)?.data.data, body);
	await app.call('DELETE', `${BASES}/${base}/documents/${document}`);
	const emptied = await stream.until(
		({ event, data }) => event === 'knowledge_base.updated' && data.data.document_count === 0,
	);
	assert.equal(emptied.at(-1)?.data.data.documents_total, 0, 'with its indexing status');
	await app.call('DELETE', `${BASES}/${base}`);
	await stream.until(({ event, data }) => event === 'knowledge_base.updated' && data.data.deleted === true);
});

test('reports a knowledge base that was indexed again', async () => {
	const base = await createResource(app, BASES, { name: 'Rebuilt' });
	await using stream = await followEvents('&notices=true');
	await addText(base, 'The shop opens at ten.');
	const isReady = ({ event, data }: ReceivedEvent) =>
		event === 'knowledge_base.updated' && data.data.last_indexed_at !== null && data.data.status === 'ready';
	const indexedAt = (await stream.until(isReady)).at(-1)?.data.data.last_indexed_at;
	await app.call('POST', `${BASES}/${base}/reindex`);
	await stream.until((event) => isReady(event) && event.data.data.last_indexed_at !== indexedAt);
});

test('sends notices only to streams that ask for them, of their workspace, and keeps them out of the log', async () => {
	await using store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	await using theirs = await followEvents('&notices=true', other.key);
	await using plain = await followEvents('');
	const base = await createResource(app, BASES, { name: 'Quiet' });
	await addText(base, 'Returns are free.');
	const logged = await plain.until(({ event }) => event === 'knowledge_base.indexed');
	assert.ok(logged.every(({ event }) => event !== 'document.updated' && event !== 'knowledge_base.updated'));
	const { body } = await app.call('GET', '/api/v1/events?limit=100');
	assert.ok(body.data.every(({ type }: { type: string }) => !/^(document|knowledge_base)\.updated$/.test(type)));
	const authorization = `Bearer ${other.key}`;
	const { body: own } = await app.call('POST', BASES, { name: 'Theirs' }, { authorization });
	const [first] = await theirs.until(({ event }) => event === 'knowledge_base.updated');
	assert.equal(first?.data.data.id, own.id);
});

test('sends no notices to a key that may not read knowledge bases', async () => {
	await using store = await openStoreDirectly(app);
	const key = await addKey(store, await firstWorkspace(store), ['webhooks:read']);
	await using stream = await followEvents('&notices=true', key);
	const base = await createResource(app, BASES, { name: 'Hidden' });
	await addText(base, 'Nothing to see.');
	const events = await stream.until(({ event }) => event === 'knowledge_base.indexed');
	assert.deepEqual(
		events.map(({ event }) => event),
		['knowledge_base.indexed'],
	);
});
