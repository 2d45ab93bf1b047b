import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	bodyValidator,
	type Operation,
	operations,
	queryValidator,
	SCOPES,
	WidgetMessage,
	WidgetMessageReply,
} from '../../src/contract/index.ts';

const table = Object.entries<Operation>(operations);

test('gives every operation a unique method and path', () => {
	const routes = table.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
	assert.deepEqual(
		routes.filter((route, index) => routes.indexOf(route) !== index),
		[],
	);
});

test('uses versioned paths in kebab-case, with ids in braces', () => {
	for (const [id, { path }] of table) {
		assert.match(path, /^\/api\/v1(\/([a-z]+(-[a-z]+)*|\{[a-z_]+\}))+$/, id);
		const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
		assert.equal(new Set(names).size, names.length, id);
	}
});

test('requires a read scope for reading, searching and checking, and a write scope for changing', () => {
	for (const [id, { method, access }] of table) {
		if (access.kind !== 'key' || access.scope === null) continue;
		assert.ok(SCOPES.includes(access.scope), id);
		// What a person has read is a note of the reader, not a change of the conversation.
		const reads = method === 'GET' || /^(search|read|check)/.test(id);
		assert.equal(access.scope.endsWith(reads ? ':read' : ':write'), true, `${id}: ${access.scope}`);
	}
});

test('requires a credential everywhere except on visitors’ pages and for signing in', () => {
	for (const [id, { path, access }] of table) {
		const expected = path.startsWith('/api/v1/widget/')
			? ['widget']
			: path.startsWith('/api/v1/session')
				? ['session', 'public']
				: ['key'];
		assert.ok(expected.includes(access.kind), `${id}: ${access.kind}`);
	}
});

test('uses status 201 only for creating operations, and bodies only for changing ones', () => {
	for (const [id, { method, status, body, multipart }] of table) {
		if (status === 201) assert.equal(method, 'POST', id);
		if (method === 'GET' || method === 'DELETE') assert.equal(body ?? multipart, undefined, id);
		if (method === 'PATCH') assert.ok(body, id);
	}
});

/** Lists that are read from their beginning have one order. */
const ONE_ORDER = new Set([
	'listEvents',
	'listDocumentChunks',
	'listModels',
	'listInbox',
	'listAssignees',
	'listUnanswered',
	'listCosts',
]);

/** What a page has beside its items. */
const BESIDE_THE_PAGE: Record<string, string[]> = {
	listWidgetMessages: ['people'],
	listCosts: ['from', 'to', 'currency', 'total'],
};

test('accepts limit, cursor and order for every paginated list, within the documented bounds', () => {
	const lists = table.filter(([, { query }]) => 'cursor' in ((query as { properties?: object })?.properties ?? {}));
	assert.ok(lists.length >= 5);
	for (const [id, { method, query, access, result }] of lists) {
		assert.equal(method, 'GET', id);
		assert.ok(query, id);
		const { properties } = result as unknown as { properties: object };
		const beside = BESIDE_THE_PAGE[id] ?? [];
		assert.deepEqual(Object.keys(properties), ['data', 'next_cursor', ...beside], id);
		const check = queryValidator(query);
		const own = access.kind === 'widget' ? { deployment_id: 'dep_1' } : {};
		const order = ONE_ORDER.has(id) ? {} : { order: 'asc' };
		assert.deepEqual(check({ ...own, limit: '100', cursor: 'abc', ...order }), {
			...own,
			limit: 100,
			cursor: 'abc',
			...order,
		});
		for (const limit of ['0', '101']) assert.throws(() => check({ ...own, limit }), { code: 'invalid_request' }, id);
	}
});

test('accepts a PATCH with any single field, or none', () => {
	for (const [id, { method, body }] of table) {
		if (method !== 'PATCH' || !body) continue;
		assert.deepEqual(bodyValidator(body)({}), {}, id);
		assert.equal((body as { required?: string[] }).required ?? undefined, undefined, id);
	}
});

test('hides the model, its usage and the arguments and results of tools from visitors', () => {
	const shown = [...Object.keys(WidgetMessage.properties), ...Object.keys(WidgetMessageReply.properties)];
	for (const hidden of ['model', 'usage', 'metadata']) assert.ok(!shown.includes(hidden), hidden);
	assert.deepEqual(Object.keys(WidgetMessage.properties.tool_calls.items.properties), ['id', 'name', 'status']);
});
