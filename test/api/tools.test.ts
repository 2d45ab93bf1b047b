import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { addKey, addWorkspace, eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';
import { filesContaining, recordingLog } from './traces.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());

const TOOLS = '/api/v1/tools';
const ASSISTANTS = '/api/v1/assistants';
const WEATHER = {
	name: 'get_weather',
	type: 'api',
	config: {
		method: 'GET',
		url: 'https://weather.example/v1/{city}',
		parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
	},
};
const WAREHOUSE = { name: 'warehouse', type: 'mcp', config: { url: 'https://tools.example/mcp' } };

/** Creates a tool and returns it. */
async function make(tool: object, headers?: Record<string, string>) {
	const { status, body } = await app.call('POST', TOOLS, tool, headers);
	assert.equal(status, 201, JSON.stringify(body));
	return body;
}

const patch = (id: string, body: object, headers?: Record<string, string>) =>
	app.call('PATCH', `${TOOLS}/${id}`, body, headers);

test('returns a new tool with its defaults, and reads it back unchanged', async () => {
	const { id, created_at, updated_at, ...rest } = await make({ ...WEATHER, description: 'The weather of a city.' });
	assert.match(id, /^tool_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	assert.equal(updated_at, created_at);
	assert.deepEqual(rest, {
		name: 'get_weather',
		description: 'The weather of a city.',
		type: 'api',
		config: { ...WEATHER.config, headers: {}, query: {}, body: null, timeout_ms: 10_000, auth: { type: 'none' } },
		status: 'active',
	});
	assert.deepEqual((await app.call('GET', `${TOOLS}/${id}`)).body, { id, created_at, updated_at, ...rest });

	const { config, description } = await make(WAREHOUSE);
	assert.deepEqual(config, { ...WAREHOUSE.config, headers: {}, allowed_tools: null, timeout_ms: 10_000 });
	assert.equal(description, null);
});

test('names the invalid field of a tool', async () => {
	const api = (config: object) => ({ ...WEATHER, config: { ...WEATHER.config, ...config } });
	const wrong: Array<[body: unknown, code: string, ...places: string[]]> = [
		[{}, 'invalid_request', '/type'],
		[{ ...WEATHER, type: 'soap' }, 'invalid_request', '/type'],
		[{ ...WEATHER, name: 'get weather' }, 'invalid_request', '/name'],
		[{ ...WEATHER, name: 'x'.repeat(65) }, 'invalid_request', '/name'],
		[{ ...WEATHER, name: undefined }, 'invalid_request', '/name'],
		[{ ...WEATHER, status: 'archived' }, 'invalid_request', '/status'],
		[{ ...WEATHER, config: undefined }, 'invalid_request', '/config'],
		[{ ...WEATHER, config: null }, 'invalid_request', '/config'],
		[{ ...WEATHER, config: WAREHOUSE.config }, 'invalid_request', '/config/method'],
		[{ ...WAREHOUSE, config: WEATHER.config }, 'invalid_request', '/config/method', '/config/parameters'],
		[api({ method: 'get' }), 'invalid_request', '/config/method'],
		[api({ url: 'https://weather.example/{town}' }), 'invalid_request', '/config/url'],
		[api({ url: 'https://{city}/' }), 'invalid_request', '/config/url'],
		[api({ url: 'http://weather.example/' }), 'url_not_allowed', '/config/url'],
		[api({ url: 'https://10.0.0.1/{city}' }), 'url_not_allowed', '/config/url'],
		[
			api({ parameters: { type: 'object', properties: { city: { type: 'strin' } } } }),
			'invalid_request',
			'/config/parameters',
		],
		[
			api({ parameters: { type: 'object', $ref: 'https://example.com/schema.json' } }),
			'invalid_request',
			'/config/parameters',
		],
		[api({ timeout_ms: 30_001 }), 'invalid_request', '/config/timeout_ms'],
		[api({ headers: { Host: 'x' } }), 'invalid_request', '/config/headers/Host'],
		[api({ auth: { type: 'bearer' } }), 'invalid_request', '/config/auth/token'],
		[api({ auth: { type: 'bearer', token: 'a b' } }), 'invalid_request', '/config/auth/token'],
		[api({ auth: { type: 'bearer', token: '***' } }), 'invalid_request', '/config/auth/token'],
		[
			api({ method: 'POST', body: JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) }),
			'invalid_request',
			'/config/body',
		],
		[{ ...WAREHOUSE, config: { url: 'https://127.0.0.1/mcp' } }, 'url_not_allowed', '/config/url'],
		[
			{ ...WAREHOUSE, config: { url: 'https://tools.example/mcp', allowed_tools: [], tools: 1 } },
			'invalid_request',
			'/config/tools',
		],
	];
	for (const [body, code, ...places] of wrong) {
		const response = await app.call('POST', TOOLS, body);
		const paths = response.body.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([response.status, response.body.error?.code, paths], [400, code, places], JSON.stringify(body));
	}
});

test('filters the list by type, page by page', async () => {
	await using own = await startTestApp();
	const ids: Record<string, string[]> = { api: [], mcp: [] };
	for (let at = 0; at < 6; at++) {
		const tool = at % 2 === 0 ? WEATHER : WAREHOUSE;
		ids[tool.type]?.unshift(await createResource(own, TOOLS, tool));
	}
	const [archived] = ids.mcp as [string];
	await own.call('PATCH', `${TOOLS}/${archived}`, { status: 'archived' });
	const listed = async (query: string) => {
		const { body } = await own.call('GET', `${TOOLS}?${query}`);
		return { ids: body.data.map(({ id }: { id: string }) => id), next: body.next_cursor };
	};
	assert.equal((await listed('')).ids.length, 6);
	assert.deepEqual((await listed('type=api')).ids, ids.api);
	assert.deepEqual((await listed('type=mcp&status=archived')).ids, [archived]);
	const first = await listed('type=mcp&limit=2');
	const second = await listed(`type=mcp&limit=2&cursor=${first.next}`);
	assert.deepEqual([[...first.ids, ...second.ids], second.next], [ids.mcp, null]);
	const foreign = await own.call('GET', `${TOOLS}?type=api&cursor=${first.next}`);
	assert.deepEqual([foreign.status, foreign.body.error.code], [400, 'invalid_cursor']);
});

test('merges a change into the configuration and validates the result', async () => {
	const before = await make({
		...WEATHER,
		config: { ...WEATHER.config, headers: { 'X-A': '1', 'X-B': '2' }, query: { units: 'metric' } },
	});
	const { status, body } = await patch(before.id, {
		description: 'Now with words.',
		config: { headers: { 'X-A': null, 'X-C': '3' }, query: null, timeout_ms: 500 },
	});
	assert.equal(status, 200, JSON.stringify(body));
	assert.deepEqual(body, {
		...before,
		description: 'Now with words.',
		config: { ...before.config, headers: { 'X-B': '2', 'X-C': '3' }, query: {}, timeout_ms: 500 },
		updated_at: body.updated_at,
	});

	const refused: Array<[config: object, code: string, place: string]> = [
		[{ url: 'https://weather.example/{town}' }, 'invalid_request', '/config/url'],
		[{ url: null }, 'invalid_request', '/config/url'],
		[{ url: 'http://weather.example/' }, 'url_not_allowed', '/config/url'],
		[{ parameters: { properties: { city: null } } }, 'invalid_request', '/config/url'],
		[{ parameters: { type: 'array' } }, 'invalid_request', '/config/parameters'],
		[{ headers: { Connection: 'close' } }, 'invalid_request', '/config/headers/Connection'],
		[{ retries: 1 }, 'invalid_request', '/config/retries'],
	];
	for (const [config, code, place] of refused) {
		const response = await patch(before.id, { name: 'changed', config });
		const paths = response.body.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([response.status, response.body.error?.code, paths], [400, code, [place]], JSON.stringify(config));
	}
	assert.deepEqual((await app.call('GET', `${TOOLS}/${before.id}`)).body, body, 'nothing of a refused change is kept');
});

test('a change of the type needs the complete configuration and copies nothing', async () => {
	const headers = { 'X-Api-Key': 'first', Accept: '*/*' };
	const { id } = await make({ ...WEATHER, config: { ...WEATHER.config, headers } });
	const alone = await patch(id, { type: 'mcp' });
	assert.deepEqual([alone.status, alone.body.error.details[0].path], [400, '/config']);
	const partly = await patch(id, { type: 'mcp', config: { timeout_ms: 5 } });
	assert.deepEqual([partly.status, partly.body.error.details[0].path], [400, '/config/url']);
	const hidden = await patch(id, { type: 'mcp', config: { ...WAREHOUSE.config, headers: { 'X-Api-Key': '***' } } });
	assert.deepEqual([hidden.status, hidden.body.error.details[0].path], [400, '/config/headers/X-Api-Key']);
	const { status, body } = await patch(id, { type: 'mcp', config: WAREHOUSE.config });
	assert.deepEqual([status, body.type], [200, 'mcp']);
	assert.deepEqual(body.config, { ...WAREHOUSE.config, headers: {}, allowed_tools: null, timeout_ms: 10_000 });
	assert.equal((await patch(id, { type: 'mcp' })).status, 200, 'the same type is not a change of the type');
});

test('a disabled tool stays attached and can be enabled again', async () => {
	const { id } = await make(WAREHOUSE);
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	await app.call('POST', `${ASSISTANTS}/${assistant}/tools`, { tool_id: id });
	assert.equal((await patch(id, { status: 'archived' })).body.status, 'archived');
	assert.deepEqual((await app.call('GET', `${ASSISTANTS}/${assistant}`)).body.tool_ids, [id]);
	assert.equal((await patch(id, { status: 'active' })).body.status, 'active');
	assert.equal((await patch(id, { status: 'deleted' })).status, 400);
});

test('shows secrets redacted; a redacted secret sent back is kept, any other value replaces it', async () => {
	const auth = { type: 'header', name: 'X-Word', value: 'first-word' };
	const headers = { Cookie: 'first-crumb', Accept: 'text/plain' };
	const { id, config } = await make({ ...WEATHER, config: { ...WEATHER.config, auth, headers } });
	assert.deepEqual(config.auth, { ...auth, value: '***' });
	assert.deepEqual(config.headers, { Cookie: '***', Accept: 'text/plain' });
	await using store = await openStoreDirectly(app);
	const stored = async () => (await store.get('tools', id))?.config as typeof config;
	const sealed = await stored();

	// As a dashboard does: it reads the resource, changes a field and sends the whole back.
	const back = await patch(id, { config: { ...config, timeout_ms: 7 } });
	assert.deepEqual([back.status, back.body.config], [200, { ...config, timeout_ms: 7 }]);
	assert.deepEqual(await stored(), { ...sealed, timeout_ms: 7 });
	await patch(id, { config: { auth: { name: 'X-Other' } } });
	assert.deepEqual((await stored()).auth, { ...sealed.auth, name: 'X-Other' });

	await patch(id, { config: { auth: { value: 'second-word' } } });
	const replaced = await stored();
	assert.notEqual(replaced.auth.value, sealed.auth.value);
	assert.equal(replaced.headers.Cookie, sealed.headers.Cookie);

	const basic = await patch(id, { config: { auth: { type: 'basic', username: 'ali', password: 'third-word' } } });
	assert.deepEqual(basic.body.config.auth, { type: 'basic', username: 'ali', password: '***' });
	const lost = await patch(id, { config: { auth: { type: 'bearer', token: '***' } } });
	assert.deepEqual([lost.status, lost.body.error.details[0].path], [400, '/config/auth/token']);
});

test('does not send a stored secret to another host: it must be given again', async () => {
	const config = {
		...WEATHER.config,
		auth: { type: 'bearer', token: 'swordfish' },
		headers: { 'X-Api-Key': 'marlin' },
	};
	const { id } = await make({ ...WEATHER, config });
	for (const url of ['https://evil.example/v1/{city}', 'https://weather.example:8443/v1/{city}']) {
		const { status, body } = await patch(id, { config: { url } });
		assert.deepEqual([status, body.error.code], [400, 'invalid_request'], url);
		assert.match(body.error.details[0].path, /^\/config\/(auth\/token|headers\/X-Api-Key)$/);
	}
	assert.equal((await patch(id, { config: { url: 'https://weather.example/v2/{city}' } })).status, 200);
	const moved = await patch(id, {
		config: { url: 'https://new.example/{city}', auth: { token: 'tuna' }, headers: { 'X-Api-Key': 'cod' } },
	});
	assert.deepEqual([moved.status, moved.body.config.auth], [200, { type: 'bearer', token: '***' }]);
});

test('shows a secret nowhere: not in a response, the log or a file', async () => {
	const words = ['open-sesame-1', 'open-sesame-2', 'open-sesame-3', 'open-sesame-4', 'open-sesame-5'] as const;
	const kept = recordingLog();
	const responses: unknown[] = [];
	await using own = await startTestApp({ overrides: { log: kept.log } });
	const call = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
		const response = await own.call(method, path, body, headers);
		responses.push(response.body, [...response.headers]);
		return response;
	};
	const config = {
		...WEATHER.config,
		auth: { type: 'bearer', token: words[0] },
		headers: { 'X-Api-Key': words[1], Accept: '*/*' },
	};
	const once = { 'idempotency-key': 'tool-1' };
	const { body: tool } = await call('POST', TOOLS, { ...WEATHER, config }, once);
	await call('POST', TOOLS, { ...WEATHER, config }, once);
	await call('PATCH', `${TOOLS}/${tool.id}`, {
		config: { auth: { type: 'basic', username: 'a', password: words[2] } },
	});
	await call('PATCH', `${TOOLS}/${tool.id}`, { config: { auth: { type: 'header', name: 'X-W', value: words[3] } } });
	await call('PATCH', `${TOOLS}/${tool.id}`, { config: { auth: { value: `${words[4]}\n` } } });
	await call('GET', `${TOOLS}/${tool.id}`);
	await call('GET', TOOLS);
	await call('DELETE', `${TOOLS}/${tool.id}`);
	assert.ok(responses.length > 10 && JSON.stringify(responses).includes('***'));
	for (const word of words) {
		assert.ok(!JSON.stringify(responses).includes(word), 'a response shows it');
		assert.ok(!kept.text().includes(word), 'the log shows it');
	}
	assert.deepEqual(await filesContaining(own.dataDir, words), []);
	assert.notDeepEqual(await filesContaining(own.dataDir, [tool.id]), [], 'this search finds stored text');
});

test('creates one tool under an Idempotency-Key', async () => {
	const headers = { 'idempotency-key': 'tool-once' };
	const config = { ...WEATHER.config, auth: { type: 'bearer', token: 'abc' } };
	const first = await app.call('POST', TOOLS, { ...WEATHER, name: 'once', config }, headers);
	const again = await app.call('POST', TOOLS, { ...WEATHER, name: 'once', config }, headers);
	assert.deepEqual([again.status, again.body], [201, first.body]);
	assert.equal(again.headers.get('idempotent-replayed'), 'true');
	const other = { ...config, auth: { type: 'bearer', token: 'abd' } };
	const reused = await app.call('POST', TOOLS, { ...WEATHER, name: 'once', config: other }, headers);
	assert.deepEqual([reused.status, reused.body.error.code], [400, 'idempotency_key_reused']);
	const parallel = await Promise.all(
		Array.from({ length: 5 }, () => make({ ...WEATHER, name: 'many' }, { 'idempotency-key': 'tool-many' })),
	);
	assert.equal(new Set(parallel.map(({ id }) => id)).size, 1);
});

test('If-Match binds a change to a version', async () => {
	const { id } = await make(WAREHOUSE);
	const read = await app.call('GET', `${TOOLS}/${id}`);
	const etag = read.headers.get('etag') as string;
	const same = await app.call('GET', `${TOOLS}/${id}`, undefined, { 'if-none-match': etag });
	assert.equal(same.status, 304);
	const changed = await patch(id, { name: 'stock' }, { 'if-match': etag });
	assert.equal(changed.status, 200);
	assert.notEqual(changed.headers.get('etag'), etag);
	for (const response of [
		await patch(id, { name: 'shelf' }, { 'if-match': etag }),
		await app.call('DELETE', `${TOOLS}/${id}`, undefined, { 'if-match': etag }),
	]) {
		assert.deepEqual([response.status, response.body.error.code], [412, 'precondition_failed']);
	}
	assert.equal((await app.call('GET', `${TOOLS}/${id}`)).body.name, 'stock');
	const current = { 'if-match': changed.headers.get('etag') as string };
	assert.equal((await app.call('DELETE', `${TOOLS}/${id}`, undefined, current)).status, 200);
});

test('makes all concurrent changes of a tool', async () => {
	const { id } = await make(WAREHOUSE);
	const names = Array.from({ length: 12 }, (_, at) => `X-Header-${at}`);
	const responses = await Promise.all(names.map((name) => patch(id, { config: { headers: { [name]: 'x' } } })));
	assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
	const { body } = await app.call('GET', `${TOOLS}/${id}`);
	assert.deepEqual(Object.keys(body.config.headers).sort(), names.sort());
	const bound = { 'if-match': (await app.call('GET', `${TOOLS}/${id}`)).headers.get('etag') as string };
	const [one, two] = await Promise.all([patch(id, { name: 'one' }, bound), patch(id, { name: 'two' }, bound)]);
	assert.deepEqual([one.status, two.status].sort(), [200, 412], 'of two that saw one version, one is made');
});

test('deletion detaches a tool everywhere, and each assistant emits an event', async () => {
	const { id } = await make(WAREHOUSE);
	const other = await make(WEATHER);
	const assistants: string[] = [];
	for (const name of ['One', 'Two', 'Three']) {
		const assistant = await createResource(app, ASSISTANTS, { name });
		for (const tool_id of [id, other.id]) await app.call('POST', `${ASSISTANTS}/${assistant}/tools`, { tool_id });
		assistants.push(assistant);
	}
	await app.call('DELETE', `${ASSISTANTS}/${assistants[2]}`);
	await using store = await openStoreDirectly(app);
	const workspace = await firstWorkspace(store);
	const before = (await eventsSoFar(store, workspace, 'assistant.updated')).length;
	const { status, body } = await app.call('DELETE', `${TOOLS}/${id}`);
	assert.deepEqual([status, body], [200, { id, deleted: true }]);
	assert.equal((await app.call('GET', `${TOOLS}/${id}`)).status, 404);
	assert.equal((await app.call('DELETE', `${TOOLS}/${id}`)).status, 404);

	const emitted = (await eventsSoFar(store, workspace, 'assistant.updated')).slice(before).map(({ data }) => data);
	const now = await Promise.all(assistants.map(async (each) => (await app.call('GET', `${ASSISTANTS}/${each}`)).body));
	for (const { tool_ids } of now) assert.deepEqual(tool_ids, [other.id]);
	const byId = (a: unknown, b: unknown) => ((a as { id: string }).id < (b as { id: string }).id ? -1 : 1);
	assert.deepEqual(emitted.sort(byId), now.sort(byId));
});

test('a tool that is deleted while it is being attached stays attached nowhere', async () => {
	const assistants: string[] = [];
	for (let at = 0; at < 6; at++) assistants.push(await createResource(app, ASSISTANTS, { name: `Helper ${at}` }));
	for (let round = 0; round < 15; round++) {
		const { id } = await make(WAREHOUSE);
		const attach = (assistant: string) => app.call('POST', `${ASSISTANTS}/${assistant}/tools`, { tool_id: id });
		// Each attachment makes the deletion repeat its decision, until no attachment follows.
		const attaching = assistants.map(attach);
		const remove = await app.call('DELETE', `${TOOLS}/${id}`);
		assert.equal(remove.status, 200);
		for (const { status } of await Promise.all(attaching)) assert.ok(status === 200 || status === 404, String(status));
		for (const assistant of assistants) {
			const { body } = await app.call('GET', `${ASSISTANTS}/${assistant}`);
			assert.deepEqual(body.tool_ids, [], `round ${round}`);
		}
	}
});

test('hides tools of another workspace, and rejects a key without the scope', async () => {
	const { id } = await make(WAREHOUSE);
	await using store = await openStoreDirectly(app);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const nobody = `tool_${'0'.repeat(32)}`;
	for (const [method, body] of [['GET'], ['PATCH', { name: 'mine' }], ['DELETE']] as const) {
		const foreign = await app.call(method, `${TOOLS}/${id}`, body, stranger);
		const unknown = await app.call(method, `${TOOLS}/${nobody}`, body, stranger);
		const malformed = await app.call(method, `${TOOLS}/tool_1`, body, stranger);
		for (const response of [foreign, unknown, malformed]) {
			assert.deepEqual([response.status, response.body.error.code], [404, 'not_found']);
			assert.equal(response.body.error.message, 'The tool does not exist.');
		}
	}
	assert.deepEqual((await app.call('GET', TOOLS, undefined, stranger)).body.data, []);
	const reader = { authorization: `Bearer ${await addKey(store, await firstWorkspace(store), ['tools:read'])}` };
	assert.equal((await app.call('GET', `${TOOLS}/${id}`, undefined, reader)).status, 200);
	for (const [method, path, body] of [
		['POST', TOOLS, WAREHOUSE],
		['PATCH', `${TOOLS}/${id}`, { name: 'mine' }],
		['DELETE', `${TOOLS}/${id}`],
	] as const) {
		const { status, body: response } = await app.call(method, path, body, reader);
		assert.deepEqual([status, response.error.code], [403, 'insufficient_scope']);
	}
	assert.equal((await app.call('GET', `${TOOLS}/${id}`)).body.name, 'warehouse');
});

test('calls intranet tools over plain HTTP where private networks are allowed', async () => {
	await using own = await startTestApp({ settings: { allow_private_network: true } });
	for (const url of ['http://10.0.0.5/{city}', 'http://localhost:3000/{city}']) {
		await createResource(own, TOOLS, { ...WEATHER, config: { ...WEATHER.config, url } });
	}
	await createResource(own, TOOLS, { ...WAREHOUSE, config: { url: 'http://127.0.0.1:3000/mcp' } });
});

test('a tool survives a restart with its secrets', async () => {
	await using first = await startTestApp();
	const config = { ...WEATHER.config, auth: { type: 'bearer', token: 'abc' } };
	const { body: tool } = await first.call('POST', TOOLS, { ...WEATHER, config });
	await using second = await first.restart();
	assert.deepEqual((await second.call('GET', `${TOOLS}/${tool.id}`)).body, tool);
	const { status, body } = await second.call('PATCH', `${TOOLS}/${tool.id}`, { config: { auth: tool.config.auth } });
	assert.deepEqual([status, body.config], [200, tool.config]);
});
