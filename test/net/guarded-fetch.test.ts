import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNetwork } from '../../src/net/index.ts';
import { until } from '../support/until.ts';
import { httpServer, tcpServer } from './servers.ts';

const open = () => createNetwork({ allowPrivateNetwork: true });

test('sends the given request and streams the response', async () => {
	const seen: unknown[] = [];
	let finish = () => {};
	await using server = await httpServer(async (request, response) => {
		let body = '';
		for await (const chunk of request.setEncoding('utf8')) body += chunk;
		seen.push(request.method, request.url, request.headers['x-word'], body);
		response.writeHead(201, { 'x-answer': 'yes' }).write('one ');
		finish = () => void response.end('two');
	});
	await using network = open();
	const headers = new Headers({ 'X-Word': 'hello' });
	const response = await network.fetch(`${server.origin}/in?a=1`, { method: 'PUT', headers, body: 'ü' });
	assert.deepEqual(seen, ['PUT', '/in?a=1', 'hello', 'ü']);
	assert.deepEqual([response.status, response.headers.get('x-answer')], [201, 'yes']);
	const reader = response.body?.getReader() ?? assert.fail();
	assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'one ', 'before there is more');
	finish();
	assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'two');
	assert.equal((await reader.read()).done, true);
});

test('returns a redirect as a response', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	await using server = await httpServer((_request, response) => {
		response.writeHead(307, { location: bird.origin }).end();
	});
	await using network = open();
	for (const redirect of ['follow', 'error', 'manual'] as const) {
		const { status, headers } = await network.fetch(server.origin, { redirect });
		assert.deepEqual([status, headers.get('location')], [307, bird.origin]);
	}
	assert.equal(bird.connections, 0);
});

test('fetches nothing that the guard refuses', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	const { port } = bird;
	for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', 'localhost', 'rebound.example']) {
		await assert.rejects(network.fetch(`http://${host}:${port}/`), { name: 'AppError', code: 'url_not_allowed' }, host);
	}
	await assert.rejects(network.fetch('http://example.com/', {}, { httpsOnly: true }), { code: 'url_not_allowed' });
	await assert.rejects(network.fetch('file:///etc/passwd'), { code: 'url_not_allowed' });
	assert.equal(bird.connections, 0);
});

test('describes a missing response in a sentence', async () => {
	await using closing = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
	const gone = await tcpServer(() => {});
	await gone[Symbol.asyncDispose]();
	await using network = createNetwork({ allowPrivateNetwork: true, resolve: async () => [] });
	for (const [url, message] of [
		[closing.origin, /^The connection to 127\.0\.0\.1:\d+ broke off before there was a response\.$/],
		[gone.origin, /^Could not connect to 127\.0\.0\.1:\d+\.$/],
		['http://nowhere.example/', /^The name nowhere\.example cannot be resolved\.$/],
		[`https://127.0.0.1:${closing.port}/`, /^(No trusted TLS connection|The connection) to 127\.0\.0\.1:\d+ /],
	] as const) {
		await assert.rejects(network.fetch(url), { code: 'unavailable', message }, url);
	}
});

test("rejects with the reason of the caller's signal, with or without a connection", async () => {
	await using silent = await tcpServer((socket) => void socket.resume());
	await using network = createNetwork({
		allowPrivateNetwork: true,
		resolve: (name) =>
			name === 'lost.example' ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
	});
	for (const url of ['http://lost.example/', silent.origin, `http://slow.example:${silent.port}/`]) {
		const giveUp = new AbortController();
		const answer = network.fetch(url, { signal: giveUp.signal });
		setImmediate(() => giveUp.abort(new Error('enough')));
		await assert.rejects(answer, { message: 'enough' }, url);
	}
});

test('refuses a fetch above the limit of connections at once, and accepts it after another has ended', async () => {
	const held: { end(): void }[] = [];
	await using server = await httpServer((_request, response) => {
		response.write('begun');
		held.push(response);
	});
	await using network = createNetwork({ allowPrivateNetwork: true, fetchConnections: 2 });
	const fetch = () => network.fetch(server.origin);
	const [first, second] = await Promise.all([fetch(), fetch()]);
	await assert.rejects(fetch(), { code: 'unavailable', message: /too many connections/ });
	for (const response of held.splice(0)) response.end();
	assert.deepEqual([await first?.text(), await second?.text()], ['begun', 'begun']);
	const third = await until('there is room', () => fetch().catch(() => undefined));
	held[0]?.end();
	assert.equal(await third.text(), 'begun');
});
