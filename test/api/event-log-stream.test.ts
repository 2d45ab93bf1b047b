import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { isNamed, openTestStream } from '../conversations/streams.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const EVENTS = '/api/v1/events';
const ASSISTANTS = '/api/v1/assistants';
const isUpdate = isNamed('assistant.updated');

const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
const rename = (name: string, id = assistant, key = app.key) =>
	app.call('PATCH', `${ASSISTANTS}/${id}`, { name }, { authorization: `Bearer ${key}` });

function followLog(query = 'stream=true', headers: Record<string, string> = {}) {
	return openTestStream(`${app.url}${EVENTS}?${query}`, {
		headers: { authorization: `Bearer ${app.key}`, ...headers },
	});
}

/** The id that a stream sends before its first event. The stream is left then. */
async function firstIdOf(query = 'stream=true'): Promise<string> {
	await using stream = await followLog(query);
	let text = '';
	for await (const bytes of stream.response.body ?? []) {
		text += Buffer.from(bytes).toString();
		const id = /^id: (\S+)\n\n/m.exec(text)?.[1];
		if (id !== undefined) return id;
	}
	throw new Error(`no id in ${text}`);
}

test('sends each event once it is committed, as the log has it, and its id is a cursor of the log', async () => {
	await using stream = await followLog();
	await rename('One');
	await rename('Two');
	const events = await stream.until(({ data }) => data.data.name === 'Two');
	assert.deepEqual(
		events.map(({ event, data }) => [event, data.type, data.data.name]),
		[
			['assistant.updated', 'assistant.updated', 'One'],
			['assistant.updated', 'assistant.updated', 'Two'],
		],
	);
	const { body } = await app.call('GET', `${EVENTS}?cursor=${events[0]?.id}`);
	assert.deepEqual(
		body.data,
		events.slice(1).map(({ data }) => data),
	);
	await using resumed = await followLog(`stream=true&cursor=${body.next_cursor}`);
	await rename('Three');
	const [next] = await resumed.until(isUpdate);
	assert.equal(next?.data.data.name, 'Three', 'the cursor of a page is a position of the stream');
});

test('a client that lost its connection before the first event resumes without a gap', async () => {
	const position = await firstIdOf();
	for (const name of ['Missed 1', 'Missed 2']) await rename(name);
	await using stream = await followLog('', { accept: 'text/event-stream', 'last-event-id': position });
	const missed = await stream.until(({ data }) => data.data.name === 'Missed 2');
	assert.deepEqual(
		missed.map(({ data }) => data.data.name),
		['Missed 1', 'Missed 2'],
	);
});

test('sends only the types that were asked for, and no event of another workspace', async () => {
	await using store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	const { body: theirs } = await app.call(
		'POST',
		ASSISTANTS,
		{ name: 'Theirs' },
		{ authorization: `Bearer ${other.key}` },
	);
	await using named = await followLog('stream=true&types=knowledge_base.indexed,assistant.updated');
	await using unrelated = await followLog('stream=true&types=tool.execution_failed');
	assert.equal((await rename('Their change', theirs.id, other.key)).status, 200);
	const deployment = await createResource(app, '/api/v1/deployments', { name: 'Shop', assistant_id: assistant });
	await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello?' });
	await rename('Ours');
	const [first, ...more] = await named.until(isUpdate);
	assert.deepEqual([first?.data.data.name, more], ['Ours', []]);
	unrelated.disconnect();
	await assert.rejects(unrelated.rest(), { name: 'AbortError' });
});

test('ends when its key is revoked', async () => {
	await using store = await openStoreDirectly(app);
	const key = await addKey(store, await firstWorkspace(store));
	const { body: keys } = await app.call('GET', '/api/v1/api-keys?limit=100');
	const listed = keys.data.find(({ prefix }: { prefix: string }) => key.startsWith(prefix));
	await using stream = await followLog('stream=true', { authorization: `Bearer ${key}` });
	assert.equal((await app.call('DELETE', `/api/v1/api-keys/${listed.id}`)).status, 200);
	assert.deepEqual(await stream.rest(), []);
});

test('rejects a position that it did not issue, and one of other types', async () => {
	const position = await firstIdOf('stream=true&types=assistant.updated');
	for (const [query, id] of [
		['stream=true', position],
		['stream=true', '12.0'],
	] as const) {
		const headers = { authorization: `Bearer ${app.key}`, 'last-event-id': id };
		const { status, body } = await app.call('GET', `${EVENTS}?${query}`, undefined, headers);
		assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], id);
	}
});
