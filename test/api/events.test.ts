import assert from 'node:assert/strict';
import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { newId } from '../../src/base/index.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const EVENTS = '/api/v1/events';
const ASSISTANTS = '/api/v1/assistants';

interface Told {
	id: string;
	type: string;
	created_at: string;
	data: Record<string, unknown>;
}

async function page(query: string, on = app): Promise<{ data: Told[]; next_cursor: string }> {
	const { status, body } = await on.call('GET', `${EVENTS}?${query}`);
	assert.equal(status, 200, JSON.stringify(body));
	assert.deepEqual(Object.keys(body), ['data', 'next_cursor']);
	assert.equal(typeof body.next_cursor, 'string');
	return body;
}

/** Reads pages until none is left. */
async function readOn(query: string, cursor: string | null, on = app): Promise<{ events: Told[]; cursor: string }> {
	const events: Told[] = [];
	for (let at = cursor; ; ) {
		const { data, next_cursor } = await page(at === null ? query : `${query}&cursor=${at}`, on);
		events.push(...data);
		at = next_cursor;
		if (data.length === 0) return { events, cursor: next_cursor };
	}
}

const ids = (events: readonly Told[]) => events.map(({ id }) => id);

test('an empty log has a cursor to continue from', async () => {
	await using own = await startTestApp();
	const empty = await page('', own);
	assert.deepEqual(empty.data, []);
	const assistant = await createResource(own, ASSISTANTS, { name: 'Guide' });
	const { body: changed } = await own.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: 'Guide 2' });
	const next = await page(`cursor=${empty.next_cursor}`, own);
	const [event, ...more] = next.data as [Told];
	assert.equal(more.length, 0);
	assert.deepEqual(Object.keys(event), ['id', 'type', 'created_at', 'data']);
	assert.match(event.id, /^evt_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.deepEqual([event.type, event.created_at, event.data], ['assistant.updated', changed.updated_at, changed]);
	assert.deepEqual((await page('', own)).data, next.data, 'without a cursor the log is read from the oldest event');
	assert.deepEqual((await page(`cursor=${next.next_cursor}`, own)).data, []);

	await using later = await own.restart();
	await later.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: 'Guide 3' });
	const resumed = await page(`cursor=${next.next_cursor}`, later);
	assert.deepEqual(
		resumed.data.map(({ data }) => data.name),
		['Guide 3'],
		'a cursor survives a restart',
	);
});

test('lists each event once, oldest first, with the resource as the API showed it', async () => {
	const { cursor } = await readOn('limit=100', null);
	const fixture = await createApiFixture(app, { texts: ['The shop opens at nine.'] });
	const { body: reply } = await app.call('POST', '/api/v1/messages', {
		deployment_id: fixture.deployment,
		content: 'When do you open?',
	});
	const { user_message, ...response } = reply;
	const { events } = await readOn('limit=3', cursor);
	assert.deepEqual(
		events.map(({ type, data }) => [type, data.id]),
		[
			['assistant.updated', fixture.assistant],
			['knowledge_base.indexed', fixture.knowledgeBase],
			['conversation.created', reply.conversation_id],
			['message.created', user_message.id],
			['message.created', reply.id],
		],
	);
	assert.deepEqual(events[3]?.data, user_message);
	assert.deepEqual(events[4]?.data, response);
});

test('a page has the requested size, and pages join without gap or repeat', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const { cursor } = await readOn('limit=100', null);
	for (let at = 0; at < 45; at++) await app.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: `Guide ${at}` });
	assert.equal((await page(`cursor=${cursor}`)).data.length, 20);
	const whole = (await page(`limit=100&cursor=${cursor}`)).data;
	assert.deepEqual(
		whole.map(({ data }) => data.name),
		Array.from({ length: 45 }, (_, at) => `Guide ${at}`),
	);
	for (const limit of [1, 7, 45]) assert.deepEqual(ids((await readOn(`limit=${limit}`, cursor)).events), ids(whole));
	const end = await readOn('limit=100', cursor);
	assert.equal((await page(`cursor=${end.cursor}`)).next_cursor, end.cursor, 'at the end the cursor stays the same');
});

test('filters by types in any order, and a cursor is bound to them', async () => {
	await using store = await openStoreDirectly(app);
	const workspace = await firstWorkspace(store);
	const { cursor: start } = await readOn('limit=100', null);
	const types = ['conversation.created', 'message.created', 'tool.execution_failed', 'conversation.closed'];
	await store.commit({
		events: Array.from({ length: 40 }, (_, at) => ({
			id: newId('event'),
			stream: workspace,
			type: types[at % types.length] as string,
			data: { at },
			created_at: Date.now(),
		})),
	});
	const added = (await readOn('limit=100', start)).events;
	assert.equal(added.length, 40);
	const chosen = (await readOn('limit=7&types=tool.execution_failed,message.created', null)).events.slice(-20);
	const expected = added.filter(({ type }) => type === 'message.created' || type === 'tool.execution_failed');
	assert.deepEqual(chosen, expected);

	const { next_cursor } = await page('limit=1&types=message.created,tool.execution_failed');
	await page(`types=tool.execution_failed,%20message.created,message.created&cursor=${next_cursor}`);
	for (const other of ['', '&types=message.created', '&types=conversation.closed']) {
		const { status, body } = await app.call('GET', `${EVENTS}?cursor=${next_cursor}${other}`);
		assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], other);
	}
});

test('names the invalid query parameter', async () => {
	const refused: Array<[query: string, place: string]> = [
		['types=message.deleted', '/types'],
		['types=', '/types'],
		['types=message.created,', '/types'],
		['types=*', '/types'],
		['types=ping', '/types'],
		['limit=0', '/limit'],
		['limit=101', '/limit'],
		['order=asc', '/order'],
		['type=message.created', '/type'],
	];
	for (const [query, place] of refused) {
		const { status, body } = await app.call('GET', `${EVENTS}?${query}`);
		const paths = body.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([status, body.error?.code, paths], [400, 'invalid_request', [place]], query);
	}
	const foreign = (await app.call('GET', `${ASSISTANTS}?limit=1`)).body.next_cursor;
	for (const cursor of [foreign, 'x', '', '0', 'MA']) {
		const { status, body } = await app.call('GET', `${EVENTS}?cursor=${cursor}`);
		assert.deepEqual([status, body.error.code], [400, 'invalid_cursor'], cursor);
	}
});

test('polling during many writes misses no event and repeats none', async () => {
	await using own = await startTestApp();
	const assistants: string[] = [];
	for (let at = 0; at < 8; at++) assistants.push(await createResource(own, ASSISTANTS, { name: `Guide ${at}` }));
	await using store = await openStoreDirectly(own);
	const workspace = await firstWorkspace(store);
	const changes = 15;
	let writing = true;
	const writers = Promise.all([
		...assistants.map(async (assistant) => {
			for (let at = 0; at < changes; at++) {
				const { status } = await own.call('PATCH', `${ASSISTANTS}/${assistant}`, { description: `Change ${at}` });
				assert.equal(status, 200);
			}
		}),
		// Another process on the same database: the command line.
		(async () => {
			for (let at = 0; at < changes; at++) {
				const event = { id: newId('event'), stream: workspace, type: 'tool.execution_failed', data: {}, created_at: 0 };
				await store.commit({ events: [event] });
			}
		})(),
	]).finally(() => {
		writing = false;
	});
	const seen: Told[] = [];
	let cursor: string | null = null;
	let polls = 0;
	for (let last = false; !last; ) {
		last = !writing;
		const read = await readOn('limit=5', cursor, own);
		seen.push(...read.events);
		cursor = read.cursor;
		polls++;
	}
	await writers;
	assert.ok(polls > 1);
	assert.deepEqual(ids(seen), ids((await eventsSoFar(store, workspace)) as unknown as Told[]));
	assert.equal(seen.length, (assistants.length + 1) * changes);
	for (const assistant of assistants) {
		assert.deepEqual(
			seen.filter(({ data }) => data.id === assistant).map(({ data }) => data.description),
			Array.from({ length: changes }, (_, at) => `Change ${at}`),
		);
	}
});

test('lists the events of one workspace and needs the scope for webhooks', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	await app.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: 'Ours' });
	await using store = await openStoreDirectly(app);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const theirs = await app.call('GET', EVENTS, undefined, stranger);
	assert.deepEqual(theirs.body.data, []);
	for (const [cursor, headers] of [
		[(await page('limit=1')).next_cursor, stranger],
		[theirs.body.next_cursor, {}],
	] as const) {
		const { status, body } = await app.call('GET', `${EVENTS}?cursor=${cursor}`, undefined, headers);
		assert.deepEqual([status, body.error.code], [400, 'invalid_cursor']);
	}
	const workspace = await firstWorkspace(store);
	const reader = { authorization: `Bearer ${await addKey(store, workspace, ['webhooks:read'])}` };
	assert.equal((await app.call('GET', EVENTS, undefined, reader)).status, 200);
	const other = { authorization: `Bearer ${await addKey(store, workspace, ['conversations:read'])}` };
	const denied = await app.call('GET', EVENTS, undefined, other);
	assert.deepEqual([denied.status, denied.body.error.code], [403, 'insufficient_scope']);
});

test('a cursor at the end of the log is valid also where no event of the requested types has happened', async () => {
	await using own = await startTestApp();
	const before = await own.call('GET', '/api/v1/events?types=conversation.closed');
	assert.deepEqual(before.body.data, []);
	await own
		.call('POST', '/api/v1/assistants', { name: 'Guide' })
		.then(({ body }) => own.call('DELETE', `/api/v1/assistants/${body.id}`));
	const after = await own.call('GET', `/api/v1/events?types=conversation.closed&cursor=${before.body.next_cursor}`);
	assert.deepEqual(after.body.data, []);
	assert.notEqual(after.body.next_cursor, before.body.next_cursor);
});

test('a cursor stays valid when all events before it have been erased', async () => {
	await using own = await startTestApp();
	const assistant = await createResource(own, ASSISTANTS, { name: 'Guide' });
	const rename = (name: string) => own.call('PATCH', `${ASSISTANTS}/${assistant}`, { name });
	await rename('Guide 2');
	const { next_cursor } = await page('', own);
	await using store = await openStoreDirectly(own);
	await store.commit({ write: [{ op: 'erase_events', before: Date.now() + 1, limit: 100 }] });
	const empty = await page('', own);
	assert.deepEqual(empty.data, []);
	await rename('Guide 3');
	for (const cursor of [next_cursor, empty.next_cursor]) {
		const { data } = await page(`cursor=${cursor}`, own);
		assert.deepEqual(
			data.map((event) => event.data.name),
			['Guide 3'],
		);
	}
});

test('after a restore of an older log, rejects a later cursor and skips no event', async () => {
	await using own = await startTestApp();
	const assistant = await createResource(own, ASSISTANTS, { name: 'Guide' });
	const rename = async (count: number, on = own) => {
		for (let at = 0; at < count; at++) await on.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: `Guide ${at}` });
	};
	await rename(2);
	const common = await page('', own);
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-restored-'));
	const running = new Database(join(own.dataDir, 'parley.db'));
	await running.backup(join(dataDir, 'parley.db'));
	running.close();
	await copyFile(join(own.dataDir, 'secret.key'), join(dataDir, 'secret.key'));
	await rename(5);
	const lost = [await page('', own), await page('limit=4', own), await page('types=conversation.closed', own)];

	await using restored = await startTestApp({ dataDir, key: own.key });
	const refused = async (cursor: string, types: string) => {
		const { status, body } = await restored.call('GET', `${EVENTS}?cursor=${cursor}${types}`);
		assert.deepEqual([status, body.error?.code], [400, 'invalid_cursor'], JSON.stringify(body));
		assert.match(body.error.message, /from a backup/);
	};
	const all = async () => {
		for (const [at, { next_cursor }] of lost.entries()) {
			await refused(next_cursor, at === 2 ? '&types=conversation.closed' : '');
		}
	};
	// None of the positions exists yet; later each belongs to another event.
	await all();
	await rename(8, restored);
	await all();
	const { data } = await page(`cursor=${common.next_cursor}`, restored);
	assert.equal(data.length, 8, 'an earlier cursor stays valid');
});
