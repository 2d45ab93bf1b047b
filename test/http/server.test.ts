import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, deferred } from '../../src/base/index.ts';
import { createHttpServer, type Route, type RouteResponse } from '../../src/http/index.ts';
import { codeOf, RawClient, start } from './harness.ts';

const hello: Route = { method: 'GET', path: '/hello', handle: () => ({ status: 200, body: 'hello' }) };
const health: Route = { method: 'GET', path: '/healthz', handle: () => ({ status: 200, body: 'alive' }) };

test('names the port in the error when it is in use', async (t) => {
	const { port } = await start(t, [hello]);
	const second = createHttpServer({
		host: '127.0.0.1',
		port,
		routes: [],
		log: createLog('silent'),
		environment: process.env,
	});
	t.after(() => second[Symbol.asyncDispose]());
	await assert.rejects(second.listen(), new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port}`));
});

test('rejects new requests while it drains and finishes running ones', async (t) => {
	const goOn = deferred<void>();
	const entered = deferred<void>();
	const { url, server } = await start(
		t,
		[
			hello,
			health,
			{
				method: 'GET',
				path: '/slow',
				handle: async (): Promise<RouteResponse> => {
					entered.resolve();
					await goOn.promise;
					return { status: 200, body: 'done' };
				},
			},
		],
		{ drainSafePaths: ['/healthz'] },
	);
	const slow = fetch(`${url}/slow`);
	await entered.promise;
	server.drain();
	let settled = false;
	const settling = server.waitUntilIdle().then(() => {
		settled = true;
	});
	const away = await fetch(`${url}/hello`);
	assert.equal(away.status, 503);
	assert.equal(away.headers.get('connection'), 'close');
	assert.ok(Number(away.headers.get('retry-after')) > 0);
	assert.equal(codeOf(await away.json()), 'unavailable');
	assert.equal(await (await fetch(`${url}/healthz`)).text(), 'alive');
	assert.equal(settled, false);
	goOn.resolve();
	assert.equal(await (await slow).text(), 'done');
	await settling;
});

test('a server that stops listening serves the open connections, each with one last response', async (t) => {
	const { server, port } = await start(t, [hello]);
	const client = new RawClient(t, port);
	client.send('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n');
	await client.untilText('\r\n\r\nhello');
	server.stopListening();
	const refused = new RawClient(t, port);
	assert.equal(await refused.untilClosed(), '');
	client.send('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n');
	const [, , second] = (await client.untilClosed()).split('HTTP/1.1 ');
	assert.match(second ?? '', /^200 [\s\S]*connection: close[\s\S]*\r\n\r\nhello$/i);
});

test('accepts no connection after it is closed, and ends open ones', async (t) => {
	let aborted = false;
	const entered = deferred<void>();
	const { server, port } = await start(t, [
		{
			method: 'GET',
			path: '/never',
			handle: (request) => {
				request.signal.addEventListener('abort', () => {
					aborted = true;
				});
				entered.resolve();
				return new Promise<RouteResponse>(() => {});
			},
		},
	]);
	const idle = new RawClient(t, port);
	const busy = new RawClient(t, port);
	busy.send('GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
	await entered.promise;
	await server[Symbol.asyncDispose]();
	await server[Symbol.asyncDispose]();
	await idle.untilClosed();
	await busy.untilClosed();
	assert.equal(aborted, true);
	const late = new RawClient(t, port);
	assert.equal(await late.untilClosed(), '');
});

test("adds the application's headers to responses that no handler made", async (t) => {
	const thrower: Route = {
		method: 'GET',
		path: '/throws',
		handle: () => {
			throw new Error('no');
		},
	};
	const { url } = await start(t, [hello, thrower], {
		unhandled: (request) => ({ headers: [['x-origin-was', request.header('origin') ?? 'none']] }),
	});
	for (const path of ['/nowhere', '/throws']) {
		const response = await fetch(url + path, { headers: { origin: 'https://a.example' } });
		assert.equal(response.headers.get('x-origin-was'), 'https://a.example');
		await response.text();
	}
	assert.equal((await fetch(`${url}/hello`)).headers.get('x-origin-was'), null);
});

test('responds also when making the error headers fails', async (t) => {
	const { url } = await start(t, [hello], {
		unhandled: () => {
			throw new Error('no');
		},
	});
	assert.equal((await fetch(`${url}/nowhere`)).status, 404);
});

test("uses the client's own address behind a trusted proxy", async (t) => {
	const who: Route = {
		method: 'GET',
		path: '/who',
		handle: (request) => ({ status: 200, body: request.clientAddress }),
	};
	const headers = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9' };
	const trusting = await start(t, [who], { trustedProxies: ['127.0.0.0/8'] });
	assert.equal(await (await fetch(`${trusting.url}/who`, { headers })).text(), '203.0.113.9');
	const plain = await start(t, [who]);
	assert.equal(await (await fetch(`${plain.url}/who`, { headers })).text(), '127.0.0.1');
});

test('accepts headers of 12 KB and rejects headers of 20 KB', async (t) => {
	const { port } = await start(t, [hello]);
	for (const [size, status] of [
		[12_000, 200],
		[20_000, 431],
	] as const) {
		const peer = new RawClient(t, port);
		peer.send(`GET /hello HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(size)}\r\nConnection: close\r\n\r\n`);
		assert.ok((await peer.untilClosed()).startsWith(`HTTP/1.1 ${status} `));
	}
});
