import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNetwork, type ServiceClientOptions, ServiceError, type ServiceExchange } from '../../src/net/index.ts';
import { until } from '../support/until.ts';
import { httpServer, tcpServer } from './servers.ts';

/** A network with the default rules: only service clients may use private addresses. */
function open(origin: string, options?: ServiceClientOptions) {
	const network = createNetwork({ allowPrivateNetwork: false });
	return {
		client: network.serviceClient(`${origin}/v1`, options),
		[Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
	};
}

/** What a receiver got. */
class Received {
	status = 0;
	headers: Record<string, string> = {};
	text = '';
	/** The error of the end, null for a good end; undefined before the end. */
	end: unknown;

	onHead(status: number, headers: Record<string, string>): void {
		assert.equal(this.status, 0);
		this.status = status;
		this.headers = headers;
	}

	onBytes(bytes: Buffer): void {
		assert.equal(this.end, undefined, 'nothing comes after the end');
		this.text += bytes.toString();
	}

	onEnd(error: unknown): void {
		assert.equal(this.end, undefined, 'it ends once');
		this.end = error;
	}

	/** The kind of the error with which it ended; null for a good end. */
	async kind(): Promise<string | null> {
		await until('the response has ended', () => this.end !== undefined);
		if (this.end === null) return null;
		assert.ok(this.end instanceof ServiceError, String(this.end));
		assert.match(this.end.message, /^[A-Z].*\.$/);
		return this.end.kind;
	}
}

function post(network: ReturnType<typeof open>, url: string, received: Received): ServiceExchange {
	return network.client.stream({ url: new URL(url), headers: { 'x-key': 'k' }, body: '{"a":"ü"}' }, received);
}

async function kindOf(network: ReturnType<typeof open>, url: string): Promise<string | null> {
	const received = new Received();
	post(network, url, received);
	return received.kind();
}

test('sends the request and passes the response on while it arrives', async () => {
	const seen: unknown[] = [];
	let goOn = () => {};
	await using server = await httpServer(async (request, response) => {
		const { method, url, headers } = request;
		let body = '';
		for await (const chunk of request.setEncoding('utf8')) body += chunk;
		seen.push(method, url, headers['x-key'], headers['user-agent'], headers['accept-encoding'], body);
		response.writeHead(200, { 'x-answer': ['yes', 'no'] }).write('data: 1\n\n');
		goOn = () => response.end('data: 2\n\n');
	});
	await using network = open(server.origin);
	const received = new Received();
	const exchange = post(network, `${server.origin}/v1/chat?x=1`, received);
	await until('the first event is there, before the answer has ended', () => received.text === 'data: 1\n\n');
	assert.deepEqual(seen, ['POST', '/v1/chat?x=1', 'k', 'Parley', 'identity', '{"a":"ü"}']);
	assert.deepEqual([received.status, received.headers['x-answer']], [200, 'yes, no']);
	goOn();
	assert.equal(await received.kind(), null);
	assert.equal(received.text, 'data: 1\n\ndata: 2\n\n');
	exchange.abort();
	assert.throws(() => post(network, 'http://127.0.0.1:9/v1', new Received()), { kind: 'refused' });
});

test('refuses a redirect, and limits a response, each of its lines, and the body of an error', async () => {
	await using server = await httpServer((request, response) => {
		if (request.url === '/moved') {
			response.writeHead(307, { location: '/' }).end();
		} else if (request.url === '/broken') {
			// Never ended.
			response.writeHead(500).write('e'.repeat(200_000));
		} else {
			const [lines, length] = (request.url ?? '').slice(1).split('x').map(Number) as [number, number];
			response.end(`${'a'.repeat(length)}\n`.repeat(lines));
		}
	});
	await using network = open(server.origin, { maxBodyBytes: 300_000, maxLineBytes: 150_000 });
	assert.equal(await kindOf(network, `${server.origin}/moved`), 'refused');
	assert.equal(await kindOf(network, `${server.origin}/1000x99`), null);
	assert.equal(await kindOf(network, `${server.origin}/2x149999`), null);
	assert.equal(await kindOf(network, `${server.origin}/3001x99`), 'too_large');
	assert.equal(await kindOf(network, `${server.origin}/1x200000`), 'too_large');
	const received = new Received();
	post(network, `${server.origin}/broken`, received);
	assert.equal(await received.kind(), null);
	assert.deepEqual([received.status, received.text.length], [500, 64 * 1024]);
});

test('reports each failure by its kind', async () => {
	await using broken = await tcpServer((socket) => {
		socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'));
	});
	await using silent = await tcpServer((socket) => void socket.once('data', () => socket.end()));
	await using odd = await tcpServer((socket) => void socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
	for (const server of [broken, silent, odd]) {
		await using network = open(server.origin);
		assert.equal(await kindOf(network, server.origin), 'broken');
	}
	await using slow = await httpServer((_request, response) => void response.writeHead(200).write('a'));
	await using hurried = open(slow.origin, { timeoutMs: 300 });
	assert.equal(await kindOf(hurried, slow.origin), 'late');
	const gone = await httpServer(() => {});
	await gone[Symbol.asyncDispose]();
	await using network = open(gone.origin);
	assert.equal(await kindOf(network, gone.origin), 'unreachable');
});

test('an abort closes the connection, before and during a response, and nothing follows', async () => {
	for (const begins of [false, true]) {
		let closed: Promise<unknown> = Promise.resolve();
		let hasArrived = false;
		await using server = await httpServer((_request, response) => {
			closed = new Promise((resolve) => response.on('close', () => resolve(true)));
			if (begins) response.writeHead(200).write('a');
			hasArrived = true;
		});
		await using network = open(server.origin);
		const received = new Received();
		const exchange = post(network, server.origin, received);
		await until('the request is there', () => hasArrived && (!begins || received.text === 'a'));
		exchange.abort();
		assert.equal(await closed, true);
		assert.equal(received.end, undefined);
	}
});

test('a request that is aborted while it waits for a connection is not sent', async () => {
	const asked: string[] = [];
	let goOn = () => {};
	await using server = await httpServer((request, response) => {
		asked.push(request.url ?? '');
		goOn = () => response.end('a');
	});
	await using network = open(server.origin, { connections: 1 });
	const first = new Received();
	post(network, `${server.origin}/first`, first);
	await until('the connection is taken', () => asked.length === 1);
	const second = new Received();
	post(network, `${server.origin}/second`, second).abort();
	goOn();
	assert.equal(await first.kind(), null);
	const third = new Received();
	post(network, `${server.origin}/third`, third);
	await until('the third is there', () => asked.includes('/third'));
	goOn();
	assert.equal(await third.kind(), null);
	assert.deepEqual([asked, second.end], [['/first', '/third'], undefined]);
});

test('disposal of the network ends running exchanges', async () => {
	await using server = await httpServer((_request, response) => void response.writeHead(200).write('a'));
	const network = open(server.origin);
	const received = new Received();
	post(network, server.origin, received);
	await until('the response has begun', () => received.text === 'a');
	await network[Symbol.asyncDispose]();
	assert.equal(await received.kind(), 'broken');
});
