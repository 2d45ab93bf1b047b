// Own process: it measures the memory of the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, deferred, isId } from '../../src/base/index.ts';
import { HeaderBlock, type HttpRequest, type Route, type RouteResponse } from '../../src/http/index.ts';
import { codeOf, eventually, json, RawClient, start } from './harness.ts';

const hello: Route = { method: 'GET', path: '/hello', handle: () => ({ status: 200, body: 'hello' }) };
const never: Route = { method: 'GET', path: '/never', handle: () => new Promise<RouteResponse>(() => {}) };

test('sends a request id with every response, and no header that names the library', async (t) => {
	const { url } = await start(t, [hello]);
	const ids = new Set<string>();
	for (const path of ['/hello', '/hello', '/nowhere']) {
		const answer = await fetch(url + path);
		const id = answer.headers.get('x-request-id') ?? '';
		assert.ok(isId('request', id), id);
		ids.add(id);
		assert.equal(answer.headers.get('uwebsockets'), null);
		await answer.text();
	}
	assert.equal(ids.size, 3);
});

test('answers 404 to an unknown path, and 405 with the allowed methods to a wrong method', async (t) => {
	const { url } = await start(t, [hello, { method: 'POST', path: '/hello', handle: () => ({ status: 201 }) }]);
	const missing = await fetch(`${url}/hello/`);
	assert.equal(missing.status, 404);
	const body = (await missing.json()) as { error: { request_id: string } };
	assert.equal(codeOf(body), 'not_found');
	assert.equal(body.error.request_id, missing.headers.get('x-request-id'));
	for (const method of ['DELETE', 'OPTIONS', 'PATCH']) {
		const wrong = await fetch(`${url}/hello`, { method });
		assert.equal(wrong.status, 405);
		assert.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
		assert.equal(codeOf(await wrong.json()), 'method_not_allowed');
	}
});

test('treats methods as case-sensitive', async (t) => {
	const { port } = await start(t, [hello]);
	const peer = new RawClient(t, port);
	peer.send('get /hello HTTP/1.1\r\nHost: a\r\n\r\n');
	assert.match(await peer.untilText('method_not_allowed'), /^HTTP\/1\.1 405 /);
});

test('rejects a method of any length without repeating it', async (t) => {
	const { port } = await start(t, [hello]);
	const peer = new RawClient(t, port);
	peer.send(`${'G'.repeat(3_000)} /hello HTTP/1.1\r\nHost: a\r\n\r\n`);
	const text = await peer.untilText('request_id');
	assert.match(text, /"This path does not accept this method\. It accepts GET, HEAD\."/);
});

test('answers HEAD with the headers of GET, the length included, and no body, and keeps the connection', async (t) => {
	const big: Route = { method: 'GET', path: '/big', handle: async () => ({ status: 200, body: 'ü'.repeat(50_000) }) };
	const { port } = await start(t, [hello, big]);
	for (const [path, length] of [
		['/hello', 5],
		['/big', 100_000],
		['/nowhere', null],
	] as const) {
		const peer = new RawClient(t, port);
		peer.send(`HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
		const head = await peer.untilText('\r\n\r\n');
		assert.match(head, length === null ? /^HTTP\/1\.1 404 / : new RegExp(`^content-length: ${length}\r$`, 'im'));
		peer.send('GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
		const second = (await peer.untilClosed()).slice(head.length);
		assert.match(second, /^HTTP\/1\.1 200 OK\r\n/);
		assert.ok(head.endsWith('\r\n\r\n') && second.endsWith('\r\n\r\nhello'));
	}
});

test('sends no body and no length with 204 and 304', async (t) => {
	const { port } = await start(t, [
		{ method: 'GET', path: '/204', handle: () => ({ status: 204 }) },
		{ method: 'GET', path: '/304', handle: () => ({ status: 304, headers: [['etag', '"1"']] }) },
	]);
	for (const status of [204, 304]) {
		const peer = new RawClient(t, port);
		peer.send(`GET /${status} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
		const text = await peer.untilClosed();
		assert.ok(text.startsWith(`HTTP/1.1 ${status} `), text);
		assert.doesNotMatch(text, /content-length|transfer-encoding/i);
		assert.ok(text.endsWith('\r\n\r\n'));
	}
});

/** The bytes after the header block of each case must never run as a separate request. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const AMBIGUOUS: Record<string, string> = {
	'no Host': 'GET /hello HTTP/1.1\r\nAccept: */*\r\n\r\n',
	'an empty Host': 'GET /hello HTTP/1.1\r\nHost: \r\n\r\n',
	'two hosts in one header': 'GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n',
	'two Host headers': 'GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
	'two equal Host headers': 'GET /hello HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n',
	'two differing lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc',
	'two equal lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc',
	'a list of lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc',
	'a signed length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc',
	'a negative length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc',
	'a hexadecimal length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc',
	'an empty length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabc',
	'a length beyond all bounds': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabc',
	'a length and a chunked body':
		'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a chunked body and a length':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a coding that only looks like chunked':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a list of codings':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'two codings':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
	'an identity coding': 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n',
	'an empty coding': 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \r\n\r\n',
};

for (const [what, request] of Object.entries(AMBIGUOUS)) {
	test(`answers 400 to a request with ${what}, closes the connection and runs nothing that follows`, async (t) => {
		let ran = 0;
		const count = (): RouteResponse => {
			ran += 1;
			return { status: 200 };
		};
		const { port } = await start(t, [
			{ method: 'GET', path: '/hello', handle: count },
			{ method: 'GET', path: '/smuggled', handle: count },
			{ method: 'POST', path: '/echo', handle: count },
		]);
		const alone = new RawClient(t, port);
		alone.send(request);
		assert.match(await alone.untilClosed(), /^HTTP\/1\.1 400 .*?\r\n(.*\r\n)*connection: close\r\n/i);
		const followed = new RawClient(t, port);
		followed.send(request + SMUGGLED);
		assert.doesNotMatch(await followed.untilClosed(), /HTTP\/1\.1 200/);
		assert.equal(ran, 0);
	});
}

test('answers requests on one connection one after the other', async (t) => {
	const { port } = await start(t, [hello]);
	const peer = new RawClient(t, port);
	for (let count = 1; count <= 3; count++) {
		peer.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
		await peer.until(() => peer.text.split('hello').length === count + 1);
	}
	assert.equal(peer.closed, false);
});

test('answers 500 without the message when a handler throws, and continues', async (t) => {
	const secret = 'the password is tiger';
	const { url } = await start(t, [
		hello,
		{
			method: 'GET',
			path: '/sync',
			handle: () => {
				throw new Error(secret);
			},
		},
		{
			method: 'GET',
			path: '/async',
			handle: async () => {
				throw new Error(secret);
			},
		},
		{
			method: 'GET',
			path: '/unwritable',
			handle: () => ({ status: 200, headers: [null as unknown as readonly [string, string]] }),
		},
		{ method: 'GET', path: '/nothing', handle: () => undefined as unknown as RouteResponse },
		{ method: 'GET', path: '/nothing-later', handle: async () => null as unknown as RouteResponse },
		{
			method: 'GET',
			path: '/odd',
			handle: () => {
				throw 'a string';
			},
		},
	]);
	for (const path of ['/sync', '/async', '/nothing', '/nothing-later', '/odd']) {
		const answer = await fetch(url + path);
		const text = await answer.text();
		assert.equal(answer.status, 500, path);
		assert.equal(codeOf(JSON.parse(text)), 'internal_error');
		assert.ok(!text.includes('tiger'));
	}
	await assert.rejects(fetch(`${url}/unwritable`), 'an answer that cannot be written breaks off');
	assert.equal(await (await fetch(`${url}/hello`)).text(), 'hello');
});

test('answers an AppError with its status, code, details and Retry-After', async (t) => {
	const details = [{ path: '/name', message: 'must be a string' }];
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/limited',
			handle: async () => {
				throw new AppError('rate_limit_exceeded', 'Slow down.', { retry_after: 7, details });
			},
		},
	]);
	const answer = await fetch(`${url}/limited`);
	assert.equal(answer.status, 429);
	assert.equal(answer.headers.get('retry-after'), '7');
	const id = answer.headers.get('x-request-id');
	const error = { code: 'rate_limit_exceeded', message: 'Slow down.', retry_after: 7, details, request_id: id };
	assert.deepEqual(await answer.json(), { error });
});

test('ignores a handler that fails after its client has left', async (t) => {
	const entered = deferred<HttpRequest>();
	const goOn = deferred<void>();
	const left = deferred<void>();
	const { port, url, server } = await start(t, [
		hello,
		{
			method: 'GET',
			path: '/slow',
			handle: async (request) => {
				request.signal.addEventListener('abort', () => left.resolve());
				entered.resolve(request);
				await goOn.promise;
				throw new Error('too late');
			},
		},
	]);
	const peer = new RawClient(t, port);
	peer.send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
	const request = await entered.promise;
	peer.socket.destroy();
	await left.promise;
	assert.equal(request.signal.aborted, true);
	assert.equal(request.clientAddress, '127.0.0.1', 'what was known of the client stays known');
	goOn.resolve();
	await server.waitUntilIdle();
	assert.equal(await (await fetch(`${url}/hello`)).text(), 'hello');
});

test('answers 503 and aborts the signal when a handler reaches its deadline', async (t) => {
	let signal: AbortSignal | undefined;
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/never',
			responseTimeoutMs: 50,
			handle: (request) => {
				signal = request.signal;
				return new Promise<RouteResponse>(() => {});
			},
		},
	]);
	const answer = await fetch(`${url}/never`);
	assert.equal(answer.status, 503);
	assert.ok(Number(answer.headers.get('retry-after')) > 0);
	assert.equal(codeOf(await answer.json()), 'unavailable');
	assert.equal(signal?.aborted, true);
});

test("uses the server's deadline for a route without its own", async (t) => {
	const { url } = await start(t, [never], { limits: { responseTimeoutMs: 50 } });
	assert.equal((await fetch(`${url}/never`)).status, 503);
});

test('discards a response after the deadline, and closes its events', async (t) => {
	const answer = deferred<RouteResponse>();
	const released = deferred<void>();
	const { url, server } = await start(t, [
		{ method: 'GET', path: '/late', responseTimeoutMs: 20, handle: () => answer.promise },
	]);
	assert.equal((await fetch(`${url}/late`)).status, 503);
	const events = {
		[Symbol.asyncIterator]: () => ({
			next: () => new Promise<never>(() => {}),
			return: async () => {
				released.resolve();
				return { done: true as const, value: undefined };
			},
		}),
	};
	answer.resolve({ events });
	await released.promise;
	await server.waitUntilIdle();
});

test('removes line breaks from headers, so that they cannot forge another header', async (t) => {
	const { port } = await start(t, [
		{
			method: 'GET',
			path: '/forge',
			handle: () => ({
				status: 200,
				headers: [
					['x-a', 'b\r\nset-cookie: c=d'],
					['x-e\r\nx-f', 'g\nh'],
				],
				body: '',
			}),
		},
	]);
	const peer = new RawClient(t, port);
	peer.send('GET /forge HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
	const lines = (await peer.untilClosed()).split(/\r\n|\r|\n/);
	assert.ok(lines.includes('x-a: b set-cookie: c=d'));
	assert.ok(lines.includes('x-ex-f: g h'));
	assert.ok(!lines.some((line) => line.startsWith('set-cookie')));
});

test('gives handlers the whole request: parameters, query, repeated headers, peer address', async (t) => {
	const { port } = await start(t, [
		{
			method: 'GET',
			path: '/things/{id}',
			handle: (request) =>
				json(200, {
					params: request.params,
					query: request.query.getAll('q'),
					list: request.header('x-list'),
					cookie: request.header('cookie'),
					absent: request.header('absent') ?? null,
					client: request.clientAddress,
					hasBody: request.hasBody,
				}),
		},
	]);
	const peer = new RawClient(t, port);
	peer.send(
		'GET /things/a%2Fb%20%C3%BC?q=1&q=%C3%A4+b HTTP/1.1\r\nHost: a\r\nX-List: 1\r\nX-LIST: 2\r\nCookie: a=1\r\n' +
			'Cookie: b=2\r\nConnection: close\r\n\r\n',
	);
	const body = Buffer.from((await peer.untilClosed()).split('\r\n\r\n')[1] as string, 'latin1').toString();
	assert.deepEqual(JSON.parse(body), {
		params: { id: 'a/b ü' },
		query: ['1', 'ä b'],
		list: '1, 2',
		cookie: 'a=1; b=2',
		absent: null,
		client: '127.0.0.1',
		hasBody: false,
	});
});

test('reads a single query parameter like the parsed query', async (t) => {
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/q',
			handle: (request) => ({ status: 200, body: JSON.stringify([request.queryValue('id'), request.query.get('id')]) }),
		},
	]);
	const queries = [
		'',
		'?',
		'?id',
		'?id=',
		'?id=a',
		'?id=a%20b',
		'?id=a+b',
		'?id=a=b',
		'?id=a&id=b',
		'?x=1&id=2',
		'?ids=1',
		'?i=1',
	];
	for (const query of [...queries, '?%69d=1', '?id=1#x']) {
		const [one, all] = (await (await fetch(`${url}/q${query}`)).json()) as (string | null)[];
		assert.equal(one, all, query);
	}
	assert.equal(await (await fetch(`${url}/q?id=dep_1-2`)).text(), '["dep_1-2","dep_1-2"]');
});

test('sends prepared headers with the others, and rejects line breaks in them', async (t) => {
	const headerBlock = new HeaderBlock([
		['x-first', 'one'],
		['x-second', 'two, three'],
	]);
	const reply = { status: 200, headerBlock, headers: [['x-third', 'four']] as const, body: 'x' };
	const { url } = await start(t, [
		{ method: 'GET', path: '/now', handle: () => reply },
		{ method: 'GET', path: '/later', handle: async () => reply },
		{ method: 'GET', path: '/unchanged', handle: () => ({ status: 304, headerBlock }) },
	]);
	for (const path of ['/now', '/later']) {
		for (const method of ['GET', 'HEAD']) {
			const { headers } = await fetch(url + path, { method });
			const seen = ['x-first', 'x-second', 'x-third', 'content-length'].map((name) => headers.get(name));
			assert.deepEqual(seen, ['one', 'two, three', 'four', '1'], `${method} ${path}`);
			assert.match(headers.get('x-request-id') ?? '', /^req_[0-9a-z]{32}$/);
		}
	}
	assert.equal((await fetch(`${url}/unchanged`)).headers.get('x-second'), 'two, three');
	assert.throws(() => new HeaderBlock([['x-a', 'b\r\nx-c: d']]), TypeError);
	assert.throws(() => new HeaderBlock([['x-a\n', 'b']]), TypeError);
});

test('closes the connection of an immediate response that cannot be written, and continues', async (t) => {
	const { url } = await start(t, [
		{ method: 'GET', path: '/broken', handle: () => ({ status: 200, headers: [null as never], body: 'x' }) },
		{ method: 'GET', path: '/fine', handle: () => ({ status: 200, body: 'fine' }) },
	]);
	await assert.rejects(fetch(`${url}/broken`));
	assert.equal(await (await fetch(`${url}/fine`)).text(), 'fine');
});

test('answers 400 to invalid percent-encoding in a path', async (t) => {
	const { port } = await start(t, [{ method: 'GET', path: '/things/{id}', handle: () => ({ status: 200 }) }]);
	for (const path of ['/things/%', '/things/%zz', '/things/%C3', '/%ff/x']) {
		const peer = new RawClient(t, port);
		peer.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
		assert.match(await peer.untilText('invalid_request'), /^HTTP\/1\.1 400 /);
	}
});

test('sends a large response whole, also to a reader that pauses', async (t) => {
	const body = Buffer.alloc(12_000_000);
	for (let at = 0; at < body.length; at += 4) body.writeUInt32LE(at, at);
	const { url } = await start(t, [{ method: 'GET', path: '/large', handle: async () => ({ status: 200, body }) }]);
	const answer = await fetch(`${url}/large`);
	assert.equal(answer.headers.get('content-length'), String(body.length));
	const pieces: Uint8Array[] = [];
	for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
		pieces.push(piece);
		if (pieces.length % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	assert.ok(Buffer.concat(pieces).equals(body));
});

test('disconnects a stalled reader and frees what it did not take', async (t) => {
	const body = Buffer.alloc(64_000_000);
	let asked = 0;
	const route: Route = {
		method: 'GET',
		path: '/large',
		handle: () => {
			asked += 1;
			return { status: 200, body };
		},
	};
	const { port, server } = await start(t, [route], { limits: { sendTimeoutMs: 150 } });
	const before = process.memoryUsage().rss;
	const peers = Array.from({ length: 8 }, () => new RawClient(t, port));
	for (const peer of peers) {
		peer.socket.pause();
		peer.send('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
	}
	await eventually(() => asked === peers.length, 'all had asked');
	const since = performance.now();
	await server.waitUntilIdle();
	assert.ok(performance.now() - since < 5_000);
	const grown = process.memoryUsage().rss - before;
	assert.ok(grown < 100_000_000, `the answers were buffered: ${grown} bytes`);
	for (const peer of peers) {
		peer.socket.resume();
		await peer.untilClosed();
		assert.ok(peer.text.length < body.length);
	}
});
