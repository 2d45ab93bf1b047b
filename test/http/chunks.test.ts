import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../src/http/index.ts';
import { eventually, RawClient, start } from './harness.ts';

const HEADERS = [['content-type', 'application/jsonl']] as const;
const GET = 'GET /lines HTTP/1.1\r\nHost: a\r\n\r\n';

function route(chunks: () => AsyncIterable<string>): Route {
	return { method: 'GET', path: '/lines', handle: async () => ({ headers: HEADERS, chunks: chunks() }) };
}

test('sends the chunks in order, with the headers, and takes further requests on the connection', async (t) => {
	const { url, port } = await start(t, [
		route(async function* () {
			yield 'one\n';
			yield '';
			yield 'zwölf\n'.repeat(100_000);
			yield 'end\n';
		}),
	]);
	const response = await fetch(`${url}/lines`);
	assert.equal(response.headers.get('content-type'), 'application/jsonl');
	assert.equal(await response.text(), `one\n${'zwölf\n'.repeat(100_000)}end\n`);
	const client = new RawClient(t, port);
	for (const count of [1, 2]) {
		client.send(GET);
		await client.until(() => client.text.split('end\n\r\n0\r\n\r\n').length === count + 1);
	}
});

test('a response without chunks is an empty body', async (t) => {
	const { url } = await start(t, [route(async function* () {})]);
	const response = await fetch(`${url}/lines`);
	assert.deepEqual([response.status, await response.text()], [200, '']);
});

test('makes no more chunks than the client takes, and ends them when the client leaves', async (t) => {
	let made = 0;
	let isEnded = false;
	const { port } = await start(t, [
		route(async function* () {
			try {
				for (;;) {
					made++;
					yield 'x'.repeat(100_000);
				}
			} finally {
				isEnded = true;
			}
		}),
	]);
	const client = new RawClient(t, port);
	client.socket.pause();
	client.send(GET);
	let before = -1;
	// What the buffers of both sockets hold was made; then the chunks stand still.
	for (let same = 0; same < 20; ) {
		await new Promise((resolve) => setTimeout(resolve, 20));
		same = made > 0 && made === before ? same + 1 : 0;
		before = made;
	}
	assert.ok(made < 1_000, `${made} chunks for a client that reads nothing`);
	client.socket.resume();
	await client.until(() => made > before + 10);
	client.socket.destroy();
	await eventually(() => isEnded, 'the chunks ended');
});

test('chunks that fail close the connection before the last chunk', async (t) => {
	const { port } = await start(t, [
		route(async function* () {
			yield 'part\n';
			throw new Error('the disk failed');
		}),
	]);
	const client = new RawClient(t, port);
	client.send(GET);
	const text = await client.untilClosed();
	assert.doesNotMatch(text, /0\r\n\r\n$/);
});

test('HEAD gets the headers and makes no chunk', async (t) => {
	let made = 0;
	const { url } = await start(t, [
		route(async function* () {
			made++;
			yield 'one';
		}),
	]);
	const response = await fetch(`${url}/lines`, { method: 'HEAD' });
	assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/jsonl']);
	assert.equal(made, 0);
});

test('a request with a chunked body is refused, and what follows it is not run', async (t) => {
	const { port } = await start(t, [
		route(async function* () {
			yield 'one';
		}),
	]);
	const client = new RawClient(t, port);
	client.send('GET /lines HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
	assert.match(await client.untilClosed(), /^HTTP\/1.1 400 /);
	const piped = new RawClient(t, port);
	piped.send(`GET /lines HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${GET}`);
	assert.doesNotMatch(await piped.untilClosed(), /HTTP\/1.1 200/);
});

test('a stop of the server lets a running download end', async (t) => {
	const { server, url } = await start(t, [
		route(async function* () {
			yield 'one\n';
			await stopping;
			yield 'two\n';
		}),
	]);
	let stop: () => void = () => {};
	const stopping = new Promise<void>((resolve) => {
		stop = resolve;
	});
	const response = await fetch(`${url}/lines`);
	server.drain();
	let isIdle = false;
	const idle = server.waitUntilIdle().then(() => {
		isIdle = true;
	});
	await server.closeStreams();
	assert.equal(isIdle, false);
	stop();
	assert.equal(await response.text(), 'one\ntwo\n');
	await idle;
});
