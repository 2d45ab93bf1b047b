import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { createApiFixture, createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const ITEMS = 45;
const ASSISTANTS = '/api/v1/assistants';
const made: string[] = [];
for (let at = 0; at < ITEMS; at++) made.push(await createResource(app, ASSISTANTS, { name: `Number ${at}` }));

/** All ids of a list, page by page, with the sizes of the pages. */
async function walk(path: string): Promise<{ ids: string[]; sizes: number[] }> {
	const ids: string[] = [];
	const sizes: number[] = [];
	let cursor: string | null = null;
	do {
		const separator = path.includes('?') ? '&' : '?';
		const page: string = cursor === null ? path : `${path}${separator}cursor=${encodeURIComponent(cursor)}`;
		const { status, body } = await app.call('GET', page);
		assert.equal(status, 200, JSON.stringify(body));
		ids.push(...body.data.map(({ id }: { id: string }) => id));
		sizes.push(body.data.length);
		cursor = body.next_cursor;
	} while (cursor !== null);
	return { ids, sizes };
}

async function cursorOf(path: string): Promise<string> {
	const { body } = await app.call('GET', path);
	assert.equal(typeof body.next_cursor, 'string', `${path} has a further page`);
	return body.next_cursor;
}

async function assertRefused(path: string): Promise<void> {
	const { status, body } = await app.call('GET', path);
	assert.deepEqual([status, body.error?.code], [400, 'invalid_cursor'], path);
}

test('lists twenty items by default, newest first, each once', async () => {
	assert.deepEqual(await walk(ASSISTANTS), { ids: [...made].reverse(), sizes: [20, 20, 5] });
});

test('lists from the oldest item', async () => {
	assert.deepEqual(await walk(`${ASSISTANTS}?order=asc`), { ids: made, sizes: [20, 20, 5] });
});

test('the page before the last has a next page, and a last page that is exactly full has none', async () => {
	assert.deepEqual((await walk(`${ASSISTANTS}?limit=44`)).sizes, [44, 1]);
	assert.deepEqual((await walk(`${ASSISTANTS}?limit=45`)).sizes, [45]);
	assert.deepEqual((await walk(`${ASSISTANTS}?limit=15`)).sizes, [15, 15, 15]);
});

test('accepts another page size with a cursor', async () => {
	const cursor = await cursorOf(`${ASSISTANTS}?limit=3`);
	const { body } = await app.call('GET', `${ASSISTANTS}?limit=5&cursor=${cursor}`);
	assert.deepEqual(
		body.data.map(({ id }: { id: string }) => id),
		[...made].reverse().slice(3, 8),
	);
});

test('a cursor stays valid while items are added and removed', async () => {
	const bases: string[] = [];
	for (let at = 0; at < 6; at++)
		bases.push(await createResource(app, '/api/v1/knowledge-bases', { name: `Base ${at}` }));
	const newest = [...bases].reverse();
	const first = await app.call('GET', '/api/v1/knowledge-bases?limit=2');
	assert.deepEqual(
		first.body.data.map(({ id }: { id: string }) => id),
		newest.slice(0, 2),
	);
	// The item of the cursor, the item after it, and a new item before it.
	await app.call('DELETE', `/api/v1/knowledge-bases/${newest[1]}`);
	await app.call('DELETE', `/api/v1/knowledge-bases/${newest[2]}`);
	await createResource(app, '/api/v1/knowledge-bases', { name: 'Later' });
	const { body } = await app.call('GET', `/api/v1/knowledge-bases?cursor=${first.body.next_cursor}`);
	assert.deepEqual(
		body.data.map(({ id }: { id: string }) => id),
		newest.slice(3),
	);
	assert.equal(body.next_cursor, null);
});

test('rejects a cursor with any altered character', async () => {
	const cursor = await cursorOf(ASSISTANTS);
	for (let at = 0; at < cursor.length; at += 5) {
		const other = cursor[at] === 'A' ? 'B' : 'A';
		await assertRefused(`${ASSISTANTS}?cursor=${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`);
	}
	for (const text of ['', 'x', '%00', cursor.slice(1), `${cursor}A`, `${cursor}=`, `${cursor}.`, `${cursor} `, '💥']) {
		await assertRefused(`${ASSISTANTS}?cursor=${encodeURIComponent(text)}`);
	}
});

test('a cursor is bound to its list, its filters and its order', async () => {
	const cursor = await cursorOf(ASSISTANTS);
	await assertRefused(`/api/v1/knowledge-bases?cursor=${cursor}`);
	await assertRefused(`/api/v1/conversations?cursor=${cursor}`);
	await assertRefused(`${ASSISTANTS}?status=active&cursor=${cursor}`);
	await assertRefused(`${ASSISTANTS}?order=asc&cursor=${cursor}`);
	assert.equal((await app.call('GET', `${ASSISTANTS}?order=desc&cursor=${cursor}`)).status, 200, 'the order it has');
	await assertRefused(`${ASSISTANTS}?cursor=${await cursorOf(`${ASSISTANTS}?status=active`)}`);

	const scenes = [await createApiFixture(app), await createApiFixture(app)];
	const paths = scenes.map(({ knowledgeBase }) => `/api/v1/knowledge-bases/${knowledgeBase}/documents`);
	for (const path of paths) {
		for (const content of ['One.', 'Two.']) await createResource(app, path, { source_type: 'text', content });
	}
	const documents = await cursorOf(`${paths[0]}?limit=1`);
	await assertRefused(`${paths[1]}?cursor=${documents}`);
	assert.equal((await app.call('GET', `${paths[0]}?cursor=${documents}`)).body.data.length, 1);
});

test('lists messages oldest first, and newest first on request', async () => {
	const { deployment } = await createApiFixture(app);
	const say = (content: string, conversation_id?: string) =>
		app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
	const { conversation_id } = (await say('One?')).body;
	await say('Two?', conversation_id);
	await say('Three?', conversation_id);
	const path = `/api/v1/conversations/${conversation_id}/messages`;
	const forward = await walk(`${path}?limit=4`);
	assert.deepEqual(forward.sizes, [4, 2]);
	assert.deepEqual((await walk(`${path}?limit=4&order=desc`)).ids, [...forward.ids].reverse());
	const { body } = await app.call('GET', path);
	assert.deepEqual(
		body.data
			.filter(({ role }: { role: string }) => role === 'user')
			.map(({ content }: { content: string }) => content),
		['One?', 'Two?', 'Three?'],
	);
});

test('a cursor survives a restart of the server', async () => {
	await using first = await startTestApp();
	for (const name of ['One', 'Two', 'Three']) await createResource(first, ASSISTANTS, { name });
	const { body } = await first.call('GET', `${ASSISTANTS}?limit=2`);
	await using second = await first.restart();
	const rest = await second.call('GET', `${ASSISTANTS}?cursor=${body.next_cursor}`);
	assert.deepEqual(
		rest.body.data.map(({ name }: { name: string }) => name),
		['One'],
	);
});
