import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertRefused } from '../access/people.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, openStoreDirectly } from './direct-store.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const WORKSPACE = '/api/v1/workspace';

test('a workspace has a name and a plan, and keeps conversations for ever unless a retention is set', async () => {
	const { status, body } = await app.call('GET', WORKSPACE);
	assert.equal(status, 200);
	const { id, created_at, updated_at, ...rest } = body;
	assert.match(id, /^ws_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.equal(updated_at, created_at);
	const settings = { retention_days: null, budget: null, require_totp: false };
	assert.deepEqual(rest, { name: 'Default workspace', plan: 'unlimited', ...settings });
	const changed = await app.call('PATCH', WORKSPACE, { name: 'Hollowbrook', retention_days: 30 });
	assert.deepEqual(
		[changed.status, changed.body],
		[200, { ...body, name: 'Hollowbrook', retention_days: 30, updated_at: changed.body.updated_at }],
	);
	assert.deepEqual((await app.call('GET', WORKSPACE)).body, changed.body);
	const cleared = await app.call('PATCH', WORKSPACE, { retention_days: null });
	assert.deepEqual([cleared.body.retention_days, cleared.body.name], [null, 'Hollowbrook']);
});

test('the plan cannot be changed through the API, and invalid values are named', async () => {
	const wrong: Array<[body: object, place: string]> = [
		[{ plan: 'pro' }, '/plan'],
		[{ retention_days: 0 }, '/retention_days'],
		[{ retention_days: 1.5 }, '/retention_days'],
		[{ retention_days: '30' }, '/retention_days'],
		[{ name: '' }, '/name'],
		[{ name: null }, '/name'],
		[{ id: 'ws_1' }, '/id'],
	];
	for (const [body, place] of wrong) {
		const response = await app.call('PATCH', WORKSPACE, body);
		assertRefused(response, 400, 'invalid_request', JSON.stringify(body));
		assert.equal(response.body.error.details[0].path, place);
	}
	assert.equal((await app.call('GET', WORKSPACE)).body.plan, 'unlimited');
});

test('If-Match binds a change to a version', async () => {
	const etag = (await app.call('GET', WORKSPACE)).headers.get('etag') as string;
	assert.equal((await app.call('PATCH', WORKSPACE, { name: 'One' }, { 'if-match': etag })).status, 200);
	const stale = await app.call('PATCH', WORKSPACE, { name: 'Two' }, { 'if-match': etag });
	assertRefused(stale, 412, 'precondition_failed');
	assert.equal((await app.call('GET', WORKSPACE)).body.name, 'One');
});

test('each key sees its own workspace and needs a scope to change it', async () => {
	await using store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	const as = (key: string) => (method: string, body?: unknown) =>
		app.call(method, WORKSPACE, body, { authorization: `Bearer ${key}` });
	assert.deepEqual((await as(other.key)('GET')).body.id, other.id);
	assert.equal((await as(other.key)('PATCH', { name: 'Theirs' })).body.name, 'Theirs');
	assert.notEqual((await app.call('GET', WORKSPACE)).body.name, 'Theirs');
	const reader = as(await addKey(store, other.id, ['settings:read']));
	assert.equal((await reader('GET')).status, 200);
	assertRefused(await reader('PATCH', { name: 'x' }), 403, 'insufficient_scope');
	assertRefused(await as(await addKey(store, other.id, ['assistants:write']))('GET'), 403, 'insufficient_scope');
});

test('the use of the plan counts active assistants and their tools, beside the limits', async () => {
	const { body: before } = await app.call('GET', '/api/v1/workspace/usage');
	assert.deepEqual([before.plan, before.assistants.limit, before.tool_attachments.limit], ['unlimited', null, null]);
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Counted' });
	const usage = async () => (await app.call('GET', '/api/v1/workspace/usage')).body;
	assert.equal((await usage()).assistants.used, before.assistants.used + 1);
	await app.call('DELETE', `/api/v1/assistants/${assistant.id}`);
	assert.equal((await usage()).assistants.used, before.assistants.used);
});
