import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import type { Route } from '../../src/http/index.ts';
import { codeOf, eventually, json, RawClient, start } from './harness.ts';

const echo: Route = {
	method: 'POST',
	path: '/echo',
	handle: async (request) => json(200, { got: (await request.json()) ?? 'nothing', hasBody: request.hasBody }),
};
const ignore: Route = { method: 'POST', path: '/ignore', handle: () => ({ status: 403, body: 'no' }) };
const JSON_HEAD = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

async function post(url: string, body: string | Uint8Array, contentType = 'application/json') {
	const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': contentType } });
	return { status: response.status, body: (await response.json()) as { got?: unknown } };
}

test('reads a JSON body for any spelling of its content type', async (t) => {
	const { url } = await start(t, [echo]);
	for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
		const { status, body } = await post(`${url}/echo`, '{"ü":[1,2,{"x":null}]}', type);
		assert.equal(status, 200, type);
		assert.deepEqual(body.got, { ü: [1, 2, { x: null }] });
	}
});

test('rejects a body of another type; a request without a body needs no type', async (t) => {
	const { url, port } = await start(t, [echo]);
	const types = [
		'text/plain',
		'application/jsonp',
		'application/json; charset=latin1',
		'multipart/form-data; boundary=x',
	];
	for (const type of types) {
		const { status, body } = await post(`${url}/echo`, '{}', type);
		assert.equal(status, 400);
		assert.equal(codeOf(body), 'unsupported_content_type', type);
	}
	const none = await fetch(`${url}/echo`, { method: 'POST' });
	assert.deepEqual(await none.json(), { got: 'nothing', hasBody: false });
	const peer = new RawClient(t, port);
	peer.send('POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
	assert.match(await peer.untilText('nothing'), /^HTTP\/1\.1 200/);
});

test('rejects a too deeply nested body before it is parsed', async (t) => {
	const { url } = await start(t, [echo]);
	const nested = (levels: number) => `${'[{"a\\"]":'.repeat(levels / 2)}"]}[{\\\\"${'}]'.repeat(levels / 2)}`;
	assert.equal((await post(`${url}/echo`, nested(200))).status, 200);
	for (const text of [nested(202), nested(100_000), '['.repeat(500_000)]) {
		const { status, body } = await post(`${url}/echo`, text);
		assert.equal(status, 400);
		assert.equal(codeOf(body), 'invalid_json');
	}
	assert.equal((await post(`${url}/echo`, JSON.stringify(Array(1000).fill([{ a: '[[[' }])))).status, 200);
});

test('rejects half of a surrogate pair, which could not be returned unchanged', async (t) => {
	const { url } = await start(t, [echo]);
	for (const bad of ['"\\ud800"', '{"a":["\\uDC00x"]}', '{"\\ud800":1}', '"\\udc00\\ud800"', '["\\ud83d","\\ude42"]']) {
		const { status, body } = await post(`${url}/echo`, bad);
		assert.equal(status, 400, bad);
		assert.equal(codeOf(body), 'invalid_json', bad);
	}
	for (const [good, got] of [
		['"\\ud83d\\ude42"', '🙂'],
		['"\\\\ud800"', '\\ud800'],
	]) {
		const { status, body } = await post(`${url}/echo`, good as string);
		assert.equal(status, 200, good);
		assert.equal(body.got, got);
	}
});

test('answers 400 to invalid JSON and invalid UTF-8, and keeps the connection', async (t) => {
	const { url } = await start(t, [echo]);
	for (const bad of [
		'{',
		'{"a":1,}',
		'NaN',
		'{"a":1} x',
		Buffer.from([0x22, 0xc3, 0x28, 0x22]),
		'"\ud800'.slice(0, 1),
	]) {
		const { status, body } = await post(`${url}/echo`, bad);
		assert.equal(status, 400);
		assert.equal(codeOf(body), 'invalid_json');
	}
	assert.equal((await post(`${url}/echo`, '1')).status, 200);
});

test('reads a body in a thousand chunks like a body in one', async (t) => {
	const { port } = await start(t, [echo]);
	const peer = new RawClient(t, port);
	const value = { text: 'päöü€😀'.repeat(100) };
	const bytes = Buffer.from(JSON.stringify(value));
	peer.socket.setNoDelay(true);
	peer.send(`${JSON_HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`);
	// One byte per chunk, which splits characters, with an iteration of the event loop between some of them.
	for (let at = 0; at < bytes.length; at++) {
		peer.send(Buffer.concat([Buffer.from('1\r\n'), bytes.subarray(at, at + 1), Buffer.from('\r\n')]));
		if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	peer.send('0\r\n\r\n');
	const text = Buffer.from((await peer.untilClosed()).split('\r\n\r\n')[1] as string, 'latin1').toString();
	assert.ok(bytes.length > 1_000);
	assert.deepEqual(JSON.parse(text).got, value);
});

test('accepts a body of exactly the limit and answers 413 to one byte more', async (t) => {
	const { url, port } = await start(t, [echo], { limits: { maxJsonBytes: 100_000, lingeringCloseMs: 100 } });
	const fits = JSON.stringify('x'.repeat(99_998));
	assert.equal((await post(`${url}/echo`, fits)).status, 200);
	const over = await post(`${url}/echo`, ` ${fits}`);
	assert.equal(over.status, 413);
	assert.equal(codeOf(over.body), 'payload_too_large');
	const chunked = new RawClient(t, port);
	chunked.send(`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`);
	for (let count = 0; count < 11; count++) chunked.send(`2710\r\n${'1'.repeat(10_000)}\r\n`);
	assert.match(await chunked.untilClosed(), /^HTTP\/1\.1 413 .*payload_too_large/s);
});

test('limits bodies to 1 MiB by default', async (t) => {
	const { url } = await start(t, [echo]);
	assert.equal((await post(`${url}/echo`, JSON.stringify('x'.repeat(1_048_574)))).status, 200);
	assert.equal((await post(`${url}/echo`, JSON.stringify('x'.repeat(1_048_575)))).status, 413);
});

test('lets a handler lower the limit, and never raise it', async (t) => {
	const wanting = (maxBytes: number): Route => ({
		method: 'POST',
		path: `/${maxBytes}`,
		handle: async (request) => json(200, await request.json({ maxBytes })),
	});
	const { url, port } = await start(t, [wanting(1_000), wanting(1_000_000)], { limits: { maxJsonBytes: 100_000 } });
	const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
	assert.equal((await post(`${url}/1000`, text(1_000))).status, 200);
	assert.equal((await post(`${url}/1000`, text(1_001))).status, 413);
	assert.equal((await post(`${url}/1000000`, text(100_000))).status, 200);
	assert.equal((await post(`${url}/1000000`, text(100_001))).status, 413);
	const chunked = new RawClient(t, port);
	chunked.send(`${JSON_HEAD.replace('/echo', '/1000')}Transfer-Encoding: chunked\r\n\r\n`);
	chunked.send(`3e9\r\n${'1'.repeat(1_001)}\r\n`);
	assert.match(await chunked.untilText('larger than 1000 bytes'), /^HTTP\/1\.1 413 /);
});

test('discards an unread body and keeps the connection', async (t) => {
	const { port } = await start(t, [echo, ignore]);
	const peer = new RawClient(t, port);
	peer.send('POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n');
	for (let count = 0; count < 3; count++) peer.send('x'.repeat(100_000));
	peer.send(`${JSON_HEAD}Content-Length: 4\r\nConnection: close\r\n\r\n"ok"`);
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 403 .*HTTP\/1\.1 200 .*"got":"ok"/s);
});

test('closes the connection after the response if an unread body does not end', async (t) => {
	const { port } = await start(t, [ignore], { limits: { lingeringCloseMs: 50 } });
	const peer = new RawClient(t, port);
	peer.send('POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\nxxx');
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 403 .*connection: close.*no$/is);
});

test('answers 100 Continue to a client that expects it', async (t) => {
	const { port } = await start(t, [echo]);
	const peer = new RawClient(t, port);
	peer.send(`${JSON_HEAD}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`);
	await peer.untilText('HTTP/1.1 100 Continue\r\n\r\n');
	peer.send('"ok"');
	assert.match(await peer.untilText('"got":"ok"'), /HTTP\/1\.1 200/);
});

test('buffers a body for a handler that reads late, and pauses the client', async (t) => {
	const goOn = deferred<void>();
	const late: Route = {
		method: 'POST',
		path: '/late',
		handle: async (request) => {
			await goOn.promise;
			return json(200, ((await request.json()) as string).length);
		},
	};
	const size = 60_000_000;
	const { port } = await start(t, [late], { limits: { maxJsonBytes: size + 2 } });
	const peer = new RawClient(t, port);
	peer.send(`POST /late HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${size + 2}\r\n\r\n`);
	peer.send(`"${'x'.repeat(size)}"`);
	let still = 0;
	let last = -1;
	await eventually(() => {
		still = peer.socket.bytesWritten - peer.socket.writableLength === last ? still + 1 : 0;
		last = peer.socket.bytesWritten - peer.socket.writableLength;
		return last > 0 && still > 2_000;
	}, 'the client is held back');
	assert.ok(peer.socket.writableLength > size / 2, 'the server read more than it had to');
	goOn.resolve();
	assert.match(await peer.untilText(String(size)), /^HTTP\/1\.1 200/);
});

test('answers 400 and closes the connection when a body stops arriving', async (t) => {
	const { port } = await start(t, [echo], { limits: { bodyIdleTimeoutMs: 100 } });
	const peer = new RawClient(t, port);
	peer.send(`${JSON_HEAD}Content-Length: 100\r\n\r\n{"a`);
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 400 .*stopped arriving/s);
});

test('fails the reader of a body whose client leaves before its end', async (t) => {
	const failed = deferred<unknown>();
	const begun = deferred<void>();
	const { port, server } = await start(t, [
		{
			method: 'POST',
			path: '/echo',
			handle: async (request) => {
				begun.resolve();
				return request.json().then(
					() => json(200, null),
					(error) => {
						failed.resolve(error);
						throw error;
					},
				);
			},
		},
	]);
	const peer = new RawClient(t, port);
	peer.send(`${JSON_HEAD}Content-Length: 100\r\n\r\n{"a`);
	await begun.promise;
	peer.socket.destroy();
	assert.match(String(await failed.promise), /client left/);
	await server.waitUntilIdle();
});

test('never runs a part of a body of wrong length as another request', async (t) => {
	let ran = 0;
	const { port } = await start(t, [
		echo,
		{
			method: 'GET',
			path: '/next',
			handle: () => {
				ran += 1;
				return { status: 200 };
			},
		},
	]);
	const peer = new RawClient(t, port);
	peer.send(`${JSON_HEAD}Content-Length: 40\r\n\r\n"GET /next HTTP/1.1\r\nHost: a\r\n\r\n`);
	peer.send('       "');
	assert.match(await peer.untilText('error'), /^HTTP\/1\.1 400/);
	assert.equal(ran, 0);
});
