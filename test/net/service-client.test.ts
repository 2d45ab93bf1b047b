import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createNetwork, type ServiceClientOptions, ServiceError } from '../../src/net/index.ts';
import { startCanary } from './canary.ts';
import { hostileUrls } from './hostile-urls.ts';
import { httpServer, tcpServer } from './servers.ts';

/** A network with the default rules: only service clients may use private addresses. */
function open(origin: string, options?: ServiceClientOptions) {
	const network = createNetwork({ allowPrivateNetwork: false });
	const endpoint = network.serviceClient(`${origin}/v1`, options);
	return { ask: endpoint.fetch, endpoint, [Symbol.asyncDispose]: () => network[Symbol.asyncDispose]() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
	let text = '';
	for await (const chunk of request.setEncoding('utf8')) text += chunk;
	return text;
}

/** The kind of the ServiceError that a promise rejects with. */
async function kindOf(asked: Promise<unknown>): Promise<string> {
	const error = await asked.then(
		() => assert.fail('It did not fail.'),
		(thrown: unknown) => thrown,
	);
	assert.ok(error instanceof ServiceError, String(error));
	assert.match(error.message, /^[A-Z].*\.$/);
	return error.kind;
}

test('sends the given request to the service and streams the response', async () => {
	const seen: unknown[] = [];
	let goOn = () => {};
	await using server = await httpServer(async (request, response) => {
		const { method, url, headers } = request;
		seen.push(
			method,
			url,
			headers.authorization,
			headers['user-agent'],
			headers['accept-encoding'],
			await bodyOf(request),
		);
		response.writeHead(200, { 'content-type': 'text/event-stream', 'x-answer': 'yes' }).write('data: 1\n\n');
		goOn = () => response.end('data: 2\n\n');
	});
	await using network = open(server.origin);
	const init = { method: 'POST', headers: { Authorization: 'Bearer k', 'User-Agent': 'other' }, body: '{"a":"ü"}' };
	const response = await network.ask(`${server.origin}/v1/chat`, init);
	assert.deepEqual(seen, ['POST', '/v1/chat', 'Bearer k', 'Parley', 'identity', '{"a":"ü"}']);
	assert.deepEqual([response.ok, response.status, response.headers.get('x-answer')], [true, 200, 'yes']);
	const reader = (response.body as ReadableStream<Uint8Array>).getReader();
	const first = await reader.read();
	assert.equal(Buffer.from(first.value ?? []).toString(), 'data: 1\n\n', 'before the answer has ended');
	goOn();
	assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'data: 2\n\n');
	assert.equal((await reader.read()).done, true);
});

test('connects to a service with a private address, and to no other address', async () => {
	await using server = await httpServer((_request, response) => void response.end('ok'));
	await using other = await httpServer((_request, response) => void response.end('ok'));
	await using network = open(server.origin);
	assert.equal(await (await network.ask(`${server.origin}/v1/models`)).text(), 'ok');
	const elsewhere = [
		other.origin,
		`http://localhost:${server.port}`,
		`https://127.0.0.1:${server.port}`,
		'http://169.254.169.254/',
	];
	for (const url of elsewhere) assert.equal(await kindOf(network.ask(url)), 'refused', url);
	assert.equal(other.connections, 0);
});

test('follows no redirect, not even to the service itself', async () => {
	const asked: unknown[] = [];
	await using server = await httpServer((request, response) => {
		asked.push(request.url);
		response.writeHead(307, { location: '/v1/elsewhere' }).end('go there');
	});
	await using network = open(server.origin);
	assert.equal(await kindOf(network.ask(`${server.origin}/v1/chat`)), 'refused');
	assert.deepEqual(asked, ['/v1/chat']);
});

test('connects to no hostile URL of a request or of a redirect', async () => {
	await using canary = await startCanary();
	const table = hostileUrls(canary.port).filter(({ url }) => !/[\s\0]/.test(url));
	await using server = await httpServer((request, response) => {
		const { url } = table[Number(request.url?.slice(1))] ?? assert.fail(request.url);
		response.writeHead(308, { location: Buffer.from(url).toString('latin1') }).end();
	});
	canary.allow(server.port);
	await using network = open(server.origin);
	for (const [row, { url }] of table.entries()) {
		await assert.rejects(
			network.ask(url),
			(thrown) => thrown instanceof ServiceError || thrown instanceof TypeError,
			url,
		);
		assert.equal(await kindOf(network.ask(`${server.origin}/${row}`)), 'refused', url);
	}
	assert.deepEqual(canary.seen, []);
});

test('keeps a connection for the next request', async () => {
	await using server = await httpServer((_request, response) => void response.end('ok'));
	await using network = open(server.origin);
	for (let at = 0; at < 10; at++) await (await network.ask(server.origin)).text();
	assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test('limits a response and each of its lines', async () => {
	await using server = await httpServer((request, response) => {
		const [lines, length] = (request.url ?? '').slice(1).split('x').map(Number) as [number, number];
		response.end(`${'a'.repeat(length)}\n`.repeat(lines));
	});
	await using network = open(server.origin, { maxBodyBytes: 300_000, maxLineBytes: 150_000 });
	const read = async (path: string) => (await (await network.ask(`${server.origin}/${path}`)).text()).length;
	assert.equal(await read('1000x99'), 100_000);
	assert.equal(await read('2x149999'), 300_000);
	assert.equal(await kindOf(read('3001x99')), 'too_large');
	assert.equal(await kindOf(read('1x200000')), 'too_large');
});

test('reads only the beginning of an error and does not wait for its end', async () => {
	await using server = await httpServer((_request, response) => {
		// Never ended.
		response.writeHead(500).write('e'.repeat(200_000));
	});
	await using network = open(server.origin);
	const response = await network.ask(server.origin);
	assert.deepEqual([response.ok, response.status, (await response.text()).length], [false, 500, 64 * 1024]);
});

test('returns no body for a response without a body', async () => {
	await using server = await httpServer((_request, response) => void response.writeHead(204).end());
	await using network = open(server.origin);
	const { status, body } = await network.ask(server.origin);
	assert.deepEqual([status, body], [204, null]);
});

test('reports each failure by its kind', async () => {
	await using broken = await tcpServer((socket) => {
		socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'));
	});
	await using silent = await tcpServer((socket) => void socket.once('data', () => socket.end()));
	await using odd = await tcpServer((socket) => void socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
	await using slow = await httpServer((_request, response) => void response.writeHead(200).write('a'));
	const text = async ({ ask }: ReturnType<typeof open>, origin: string) => (await ask(origin)).text();
	{
		await using network = open(broken.origin);
		assert.equal(await kindOf(text(network, broken.origin)), 'broken');
	}
	for (const server of [silent, odd]) {
		await using network = open(server.origin);
		assert.equal(await kindOf(network.ask(server.origin)), 'broken');
	}
	{
		await using network = open(slow.origin, { timeoutMs: 300 });
		assert.equal(await kindOf(text(network, slow.origin)), 'late');
	}
	const gone = await httpServer(() => {});
	await gone[Symbol.asyncDispose]();
	await using network = open(gone.origin);
	assert.equal(await kindOf(network.ask(gone.origin)), 'unreachable');
});

test('rejects with the reason of an abort and closes the connection, before and during a response', async () => {
	for (const begins of [false, true]) {
		let closed: Promise<unknown> = Promise.resolve();
		let arrived = () => {};
		const asked = new Promise<void>((resolve) => {
			arrived = resolve;
		});
		await using server = await httpServer((_request, response) => {
			closed = new Promise((resolve) => response.on('close', () => resolve(true)));
			if (begins) response.writeHead(200).write('a');
			arrived();
		});
		await using network = open(server.origin);
		const controller = new AbortController();
		const text = network.ask(server.origin, { signal: controller.signal }).then((response) => response.text());
		await asked;
		const reason = new Error('stopped');
		controller.abort(reason);
		await assert.rejects(text, (thrown) => thrown === reason);
		assert.equal(await closed, true);
	}
});

test('closes the connection when an unread response is cancelled', async () => {
	let closed: Promise<unknown> = Promise.resolve();
	await using server = await httpServer((_request, response) => {
		closed = new Promise((resolve) => response.on('close', () => resolve(true)));
		response.writeHead(200).write('a'.repeat(1_000));
	});
	await using network = open(server.origin);
	const { body } = await network.ask(server.origin);
	await body?.cancel();
	assert.equal(await closed, true);
});

test('disposes of service clients with the network', async () => {
	let closed: Promise<unknown> = Promise.resolve();
	await using server = await httpServer((_request, response) => {
		closed = new Promise((resolve) => response.on('close', () => resolve(true)));
		response.writeHead(200).write('a');
	});
	const network = createNetwork({ allowPrivateNetwork: false });
	const endpoint = network.serviceClient(server.origin);
	const response = await endpoint.fetch(server.origin);
	await network[Symbol.asyncDispose]();
	await assert.rejects(response.text());
	assert.equal(await closed, true);
	await assert.rejects(endpoint.fetch(server.origin));
	await endpoint[Symbol.asyncDispose]();
});
