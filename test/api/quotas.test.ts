import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { addWorkspace, openStoreDirectly } from './direct-store.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const ASSISTANTS = '/api/v1/assistants';

/** Calls as a new workspace with this plan. */
async function workspaceOn(plan: string) {
	await using store = await openStoreDirectly(app);
	const { key, id } = await addWorkspace(store, plan);
	const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
		app.call(method, path, body, { authorization: `Bearer ${key}`, ...headers });
	return {
		id,
		call,
		async create(path: string, body: unknown): Promise<string> {
			const response = await call('POST', path, body);
			assert.equal(response.status, 201, JSON.stringify(response.body));
			return response.body.id;
		},
	};
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `Guide ${index}`);

test('the free plan allows three active assistants, also when ten are created at once', async () => {
	const { call } = await workspaceOn('free');
	const ends = await Promise.all(names(10).map((name) => call('POST', ASSISTANTS, { name })));
	assert.equal(ends.filter(({ status }) => status === 201).length, 3);
	const refused = ends.filter(({ status }) => status === 403);
	assert.equal(refused.length, 7);
	for (const { body } of refused) {
		assert.equal(body.error.code, 'plan_limit_exceeded');
		assert.match(body.error.message, /free allows 3 active assistants/);
	}
	assert.equal((await call('GET', ASSISTANTS)).body.data.length, 3);
});

test('archiving an assistant frees a place of the plan, and reactivating takes one', async () => {
	const { call, create } = await workspaceOn('free');
	const first = await create(ASSISTANTS, { name: 'First' });
	for (const name of names(2)) await create(ASSISTANTS, { name });
	await call('DELETE', `${ASSISTANTS}/${first}`);
	await create(ASSISTANTS, { name: 'Fourth' });
	const back = await call('PATCH', `${ASSISTANTS}/${first}`, { status: 'active' });
	assert.deepEqual([back.status, back.body.error.code], [403, 'plan_limit_exceeded']);
	assert.equal((await call('GET', `${ASSISTANTS}/${first}`)).body.status, 'archived');
	const renamed = await call('PATCH', `${ASSISTANTS}/${first}`, { name: 'Renamed' });
	assert.equal(renamed.status, 200, 'a change that adds nothing needs no free place');
});

test("replays the rejection by the plan's limit under its Idempotency-Key", async () => {
	const { call, create } = await workspaceOn('free');
	const ids = [];
	for (const name of names(3)) ids.push(await create(ASSISTANTS, { name }));
	const headers = { 'idempotency-key': 'fourth' };
	const first = await call('POST', ASSISTANTS, { name: 'Fourth' }, headers);
	await call('DELETE', `${ASSISTANTS}/${ids[0]}`);
	const again = await call('POST', ASSISTANTS, { name: 'Fourth' }, headers);
	assert.deepEqual([again.status, again.body], [403, first.body]);
	assert.equal((await call('POST', ASSISTANTS, { name: 'Fourth' }, { 'idempotency-key': 'fifth' })).status, 201);
});

test('a self-hosted server has no limit unless one is configured', async () => {
	const { call } = await workspaceOn('unlimited');
	const ends = await Promise.all(names(60).map((name) => call('POST', ASSISTANTS, { name })));
	assert.ok(ends.every(({ status }) => status === 201));
});

test('the free plan allows five attached tools in total', async () => {
	const { call, create } = await workspaceOn('free');
	const tool = (name: string) =>
		create('/api/v1/tools', { name, type: 'api', config: { method: 'GET', url: 'https://shop.example/orders' } });
	const tools = [];
	for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) tools.push(await tool(name));
	const one = await create(ASSISTANTS, { name: 'One' });
	const two = await create(ASSISTANTS, { name: 'Two' });
	const attach = (assistant: string, tool_id: string | undefined) =>
		call('POST', `${ASSISTANTS}/${assistant}/tools`, { tool_id });
	const ends = await Promise.all([
		...tools.slice(0, 4).map((id) => attach(one, id)),
		...tools.slice(2, 6).map((id) => attach(two, id)),
	]);
	assert.equal(ends.filter(({ status }) => status === 200).length, 5);
	assert.ok(ends.filter(({ status }) => status !== 200).every(({ body }) => body.error.code === 'plan_limit_exceeded'));
	const attached = (await call('GET', `${ASSISTANTS}/${one}`)).body.tool_ids as string[];
	assert.equal((await attach(one, attached[0])).status, 200, 'attaching again adds nothing');

	// Attachments of an archived assistant do not count, and must fit when it is reactivated.
	await call('DELETE', `${ASSISTANTS}/${one}`);
	const spare = tools.filter((id) => !ends.some(({ body }) => body.id === two && body.tool_ids?.includes(id)));
	const more = await attach(two, spare[0]);
	assert.equal(more.status, 200);
	const back = await call('PATCH', `${ASSISTANTS}/${one}`, { status: 'active' });
	assert.deepEqual([back.status, back.body.error.code], [403, 'plan_limit_exceeded']);
});
