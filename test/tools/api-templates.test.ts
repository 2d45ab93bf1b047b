import assert from 'node:assert/strict';
import test from 'node:test';
import { type ApiPeer, apiPeer } from './api-peer.ts';
import { neverAborts, type ToolsHarness, toolsHarness } from './tools-harness.ts';

const any = { a: {}, b: {}, c: {} };
const parameters = { type: 'object', properties: any };

/** Calls a tool of this configuration and gives what the API was sent. */
async function sent(room: ToolsHarness, peer: ApiPeer, config: Record<string, unknown>, args: object) {
	const url = `${peer.origin}${config.url ?? '/'}`;
	const { call } = await room.only(room.api({ method: 'POST', parameters, ...config, url }));
	const before = peer.requests.length;
	const outcome = await call(args, neverAborts);
	return { outcome, request: peer.requests[before] };
}

test('a value in the path stays within its segment, whatever it holds', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const values: Array<[value: unknown, written: string]> = [
		['Ulm', 'Ulm'],
		['a/b', 'a%2Fb'],
		['a\\b', 'a%5Cb'],
		['../../admin', '..%2F..%2Fadmin'],
		['?x=1#y', '%3Fx%3D1%23y'],
		['%2e%2e', '%252e%252e'],
		['Łódź ☀ 😀', '%C5%81%C3%B3d%C5%BA%20%E2%98%80%20%F0%9F%98%80'],
		['a\r\nb\0', 'a%0D%0Ab%00'],
		['...', '...'],
		['https://evil.example/', 'https%3A%2F%2Fevil.example%2F'],
		['//evil.example', '%2F%2Fevil.example'],
		['{b}', '%7Bb%7D'],
		[7, '7'],
		[true, 'true'],
		[['x', 2], 'x%2C2'],
		[{ x: 1 }, '%7B%22x%22%3A1%7D'],
	];
	for (const [a, written] of values) {
		const { request, outcome } = await sent(room, peer, { url: '/v1/{a}/end' }, { a });
		assert.equal(request?.url, `/v1/${written}/end`, JSON.stringify(outcome));
	}
	const two = await sent(room, peer, { url: '/{a}-{b}.json' }, { a: '.', b: '/' });
	assert.equal(two.request?.url, '/.-%2F.json');
});

test('rejects a value that would change the path, and sends nothing', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const wrong: Array<[url: string, args: object, message: RegExp]> = [
		['/v1/{a}', { a: '.' }, /^The argument a must not make the path segment \.\.?$|segment \.\.$/],
		['/v1/{a}/x', { a: '..' }, /must not make the path segment \.\./],
		['/v1/{a}{b}', { a: '.', b: '.' }, /^The argument a and b must not make the path segment \.\./],
		['/v1/.{a}', { a: '.' }, /must not make the path segment \.\./],
		['/v1/%2e{a}', { a: '.' }, /must not make the path segment %2e\./],
		['/v1/{a}', { a: '' }, /^The argument a must not be empty/],
		['/v1/{a}', {}, /^The argument a is missing/],
		['/v1/{a}', { a: null }, /^The argument a is missing/],
		['/v1/{a}', { a: '\ud83d' }, /half of a character/],
		['/v1?x={a}', { a: '\ud83d' }, /half of a character/],
	];
	for (const [url, args, message] of wrong) {
		const { outcome, request } = await sent(room, peer, { url }, args);
		assert.deepEqual([outcome.is_error, outcome.error?.code], [true, 'invalid_arguments'], url);
		assert.match(outcome.result, message);
		assert.equal(request, undefined);
	}
});

test('a value in the query is a value, and a pair whose argument is not given is left out', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const url = '/s?fixed=1%20x&q={a}&two={b}-{c}&plain';
	const config = { url, query: { units: 'metric', n: 5, on: true, also: 'in {b}', list: '{c}' } };
	const query = async (args: object) => (await sent(room, peer, config, args)).request?.url.slice('/s?'.length);
	assert.equal(
		await query({ a: 'a&b=c d+é', b: 'x', c: 'y' }),
		'fixed=1%20x&q=a%26b%3Dc%20d%2B%C3%A9&two=x-y&plain&units=metric&n=5&on=true&also=in+x&list=y',
	);
	assert.equal(await query({}), 'fixed=1%20x&plain&units=metric&n=5&on=true');
	assert.equal(await query({ a: null, b: 'x' }), 'fixed=1%20x&plain&units=metric&n=5&on=true&also=in+x');
	assert.equal(
		await query({ a: ['1', '2'], c: ['x', 7] }),
		'fixed=1%20x&q=1&q=2&plain&units=metric&n=5&on=true&list=x&list=7',
	);
	assert.equal(await query({ a: '' }), 'fixed=1%20x&q=&plain&units=metric&n=5&on=true');
	assert.equal((await sent(room, peer, { url: '/s', query: { x: '{a}' } }, {})).request?.url, '/s');
});

test('a value is not interpreted in a header, and a value that no header can have is refused', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const config = {
		headers: { 'X-City': 'in {a}', 'X-Other': '{not_one}', 'X-Api-Key': '{not_one}', 'Idempotency-Key': '{a}' },
	};
	const { request } = await sent(room, peer, config, { a: 'Orléans' });
	assert.equal(Buffer.from(request?.headers['x-city'] as string, 'latin1').toString('latin1'), 'in Orléans');
	assert.equal(request?.headers['x-other'], '{not_one}');
	assert.equal(request?.headers['x-api-key'], '{not_one}', 'a secret is sent as it is');
	assert.equal(request?.headers['idempotency-key'], 'Orléans');
	assert.equal((await sent(room, peer, config, {})).request?.headers['x-city'], undefined);
	for (const a of ['x\r\nX-Injected: 1', 'x\nX-Injected: 1', '\r', '\0', 'Łódź']) {
		const { outcome, request } = await sent(room, peer, config, { a });
		assert.equal(outcome.error?.code, 'invalid_arguments', JSON.stringify(a));
		assert.equal(request, undefined);
	}
});

test('a body keeps the types of its arguments, and omits missing ones', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const body = {
		whole: '{a}',
		text: 'on {a} or {b}',
		list: ['{a}', '{b}', 1, 'and {c}'],
		deep: { '{a}': { x: '{c}' } },
		other: '{"x": {y}} {z}',
		fixed: [null, true, 2.5],
		['__proto__']: '{a}',
	};
	const sentBody = async (args: object) => {
		const { request } = await sent(room, peer, { body: JSON.parse(JSON.stringify(body)) }, args);
		assert.equal(request?.headers['content-type'], 'application/json');
		return request?.body;
	};
	assert.equal(
		await sentBody({ a: { n: [1, null] }, b: 'x"y', c: 3 }),
		'{"whole":{"n":[1,null]},"text":"on {\\"n\\":[1,null]} or x\\"y","list":[{"n":[1,null]},"x\\"y",1,"and 3"],' +
			'"deep":{"{a}":{"x":3}},"other":"{\\"x\\": {y}} {z}","fixed":[null,true,2.5],"__proto__":{"n":[1,null]}}',
	);
	assert.equal(
		await sentBody({ a: null }),
		'{"whole":null,"list":[null,1],"deep":{"{a}":{}},"other":"{\\"x\\": {y}} {z}","fixed":[null,true,2.5],"__proto__":null}',
	);
	const exact: Array<[body: unknown, args: object, written: string]> = [
		['{a}', { a: [1, 2] }, '[1,2]'],
		['{a}', { a: 'x' }, '"x"'],
		['{a}', { a: null }, 'null'],
		['{a}{b}', { a: 1, b: 2 }, '"12"'],
		[false, {}, 'false'],
		['{a}', {}, ''],
		[null, { a: 1 }, ''],
	];
	for (const [body, args, written] of exact) {
		const { request } = await sent(room, peer, { body }, args);
		assert.equal(request?.body, written, JSON.stringify(body));
		assert.equal(request?.headers['content-type'], written === '' ? undefined : 'application/json');
	}
	const typed = await sent(room, peer, { body: {}, headers: { 'Content-Type': 'application/vnd.x+json' } }, {});
	assert.equal(typed.request?.headers['content-type'], 'application/vnd.x+json');
});

test('each method is sent as it is, and calls say who they come from', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
		assert.equal((await sent(room, peer, { method }, {})).request?.method, method);
	}
	const auths: Array<[auth: object, header: string, value: string]> = [
		[{ type: 'bearer', token: 'abc123' }, 'authorization', 'Bearer abc123'],
		[
			{ type: 'basic', username: 'ali', password: 'pä:ss' },
			'authorization',
			`Basic ${Buffer.from('ali:pä:ss').toString('base64')}`,
		],
		[{ type: 'header', name: 'X-Api-Key', value: 'abc 123' }, 'x-api-key', 'abc 123'],
	];
	for (const [auth, header, value] of auths) {
		const { request } = await sent(room, peer, { auth }, {});
		assert.equal(request?.headers[header], value);
	}
	const { request } = await sent(room, peer, { auth: { type: 'none' } }, {});
	assert.equal(request?.headers.authorization, undefined);
	assert.equal(request?.headers['user-agent'], 'Parley');
});
