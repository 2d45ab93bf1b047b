// Own process: it measures the memory of the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isId } from '../../src/base/index.ts';
import { HeaderBlock, type Route } from '../../src/http/index.ts';
import { codeOf, eventually, RawClient, start } from './harness.ts';

const hello: Route = { method: 'GET', path: '/hello', handle: () => ({ status: 200, body: 'hello' }) };

test('sends a request id with every response, and no header that names the library', async (t) => {
	const { url } = await start(t, [hello]);
	const ids = new Set<string>();
	for (const path of ['/hello', '/hello', '/nowhere']) {
		const response = await fetch(url + path);
		const id = response.headers.get('x-request-id') ?? '';
		assert.ok(isId('request', id), id);
		ids.add(id);
		assert.equal(response.headers.get('uwebsockets'), null);
		await response.text();
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

test('answers requests on one connection one after the other', async (t) => {
	const { port } = await start(t, [hello]);
	const peer = new RawClient(t, port);
	for (let count = 1; count <= 3; count++) {
		peer.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
		await peer.until(() => peer.text.split('hello').length === count + 1);
	}
	assert.equal(peer.closed, false);
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

test('sends prepared headers with the others, and rejects line breaks in them', async (t) => {
	const headerBlock = new HeaderBlock([
		['x-first', 'one'],
		['x-second', 'two, three'],
	]);
	const response = { status: 200, headerBlock, headers: [['x-third', 'four']] as const, body: 'x' };
	const { url } = await start(t, [
		{ method: 'GET', path: '/now', handle: () => response },
		{ method: 'GET', path: '/later', handle: async () => response },
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

test('sends a large response whole, also to a reader that pauses', async (t) => {
	const body = Buffer.alloc(12_000_000);
	for (let at = 0; at < body.length; at += 4) body.writeUInt32LE(at, at);
	const { url } = await start(t, [{ method: 'GET', path: '/large', handle: async () => ({ status: 200, body }) }]);
	const response = await fetch(`${url}/large`);
	assert.equal(response.headers.get('content-length'), String(body.length));
	const chunks: Uint8Array[] = [];
	for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
		chunks.push(chunk);
		if (chunks.length % 8 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	assert.ok(Buffer.concat(chunks).equals(body));
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
	assert.ok(performance.now() - since < 10_000, 'earlier than by the default limit');
	const grown = process.memoryUsage().rss - before;
	assert.ok(grown < 100_000_000, `the answers were buffered: ${grown} bytes`);
	for (const peer of peers) {
		peer.socket.resume();
		await peer.untilClosed();
		assert.ok(peer.text.length < body.length);
	}
});
