import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createNetwork, type PostOptions } from '../../src/net/index.ts';
import { until } from '../support/until.ts';
import { httpServer, tcpServer } from './servers.ts';

const open = () => createNetwork({ allowPrivateNetwork: true });
const SENT: PostOptions = { headers: { 'x-word': 'one' }, body: '{"a":"ü"}', timeoutMs: 20_000, maxBodyBytes: 1_000 };

async function bodyOf(request: IncomingMessage): Promise<string> {
	let text = '';
	for await (const chunk of request.setEncoding('utf8')) text += chunk;
	return text;
}

test('sends headers and body of a POST and returns the response', async () => {
	const seen: unknown[] = [];
	await using server = await httpServer(async (request, response) => {
		const { method, url, headers } = request;
		seen.push(method, url, headers['x-word'], headers['user-agent'], headers['content-length'], await bodyOf(request));
		response.writeHead(202, { 'x-answer': 'yes' }).end('taken ✓');
	});
	await using network = open();
	const { duration_ms, headers, ...outcome } = await network.post(`${server.origin}/in?a=1`, SENT);
	assert.deepEqual(seen, ['POST', '/in?a=1', 'one', 'Parley', '10', SENT.body]);
	assert.deepEqual(outcome, { status: 202, body: 'taken ✓', error: null });
	assert.equal(headers['x-answer'], 'yes');
	assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0);
});

test('returns a response with any status, and follows no redirect', async () => {
	let asked = 0;
	await using server = await httpServer((_request, response) => {
		asked++;
		response.writeHead(307, { location: '/elsewhere' }).end('go there');
	});
	await using network = open();
	const { status, headers, body, error } = await network.post(server.origin, SENT);
	assert.deepEqual([status, headers.location, body, error, asked], [307, '/elsewhere', 'go there', null, 1]);
});

test('reads the beginning of a long response and does not wait for its end', async () => {
	await using server = await httpServer((_request, response) => {
		// Never ended.
		response.writeHead(200).write('é'.repeat(5_000));
	});
	await using network = open();
	const { status, body, error } = await network.post(server.origin, { ...SENT, maxBodyBytes: 1_001 });
	assert.deepEqual([status, body, error], [200, 'é'.repeat(500), null], 'half a character is none');
});

test('returns a response that breaks off after its status', async () => {
	await using server = await tcpServer((socket) => {
		socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'));
	});
	await using network = open();
	const { status, body, error } = await network.post(server.origin, SENT);
	assert.deepEqual([status, body, error], [200, 'part', null]);
});

test('applies the deadline to DNS, connection, response and body', async () => {
	await using silent = await tcpServer(() => {});
	await using slow = await httpServer((_request, response) => void response.writeHead(200).write('part'));
	await using network = createNetwork({
		allowPrivateNetwork: true,
		resolve: (name) =>
			name === 'lost.example' ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
	});
	const late = { ...SENT, timeoutMs: 100 };
	for (const url of ['http://lost.example/', silent.origin, `https://127.0.0.1:${silent.port}/`]) {
		const { status, error } = await network.post(url, late);
		assert.deepEqual([status, error], [null, 'No response within 0.1 seconds.'], url);
	}
	const { status, body, error } = await network.post(slow.origin, late);
	assert.deepEqual([status, body, error], [200, 'part', 'No response within 0.1 seconds.']);
});

test('describes a missing response in a sentence', async () => {
	await using closing = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
	await using babbling = await tcpServer((socket) => void socket.end('Hello, who is there?\r\n'));
	const gone = await tcpServer(() => {});
	await gone[Symbol.asyncDispose]();
	await using network = createNetwork({ allowPrivateNetwork: true, resolve: async () => [] });
	const told: Array<[url: string, error: RegExp]> = [
		[closing.origin, /^The connection to 127\.0\.0\.1:\d+ broke off before there was a response\.$/],
		[babbling.origin, /^The connection to 127\.0\.0\.1:\d+ broke off before there was a response\.$/],
		[gone.origin, /^Could not connect to 127\.0\.0\.1:\d+\.$/],
		['http://nowhere.example/', /^The name nowhere\.example cannot be resolved\.$/],
		[`https://127.0.0.1:${babbling.port}/`, /^No trusted TLS connection to 127\.0\.0\.1:\d+ could be made\.$/],
		['no address', /^The URL is not a valid absolute URL\.$/],
	];
	for (const [url, sentence] of told) {
		const { status, error } = await network.post(url, SENT);
		assert.equal(status, null, url);
		assert.match(error ?? '', sentence, url);
	}
});

test('sends no POST that the guard refuses', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	for (const host of ['127.0.0.1', 'localhost', 'rebound.example']) {
		const { status, error } = await network.post(`http://${host}:${bird.port}/`, SENT);
		assert.equal(status, null, host);
		assert.match(error ?? '', /is not on the public internet/, host);
	}
	const plain = await network.post('http://example.com/', { ...SENT, httpsOnly: true });
	assert.deepEqual([plain.status, plain.error], [null, 'Only https URLs are allowed here.']);
	assert.equal(bird.connections, 0);
});

test('does not delay a POST behind slow posts and downloads of the same server', async () => {
	const held: ServerResponse[] = [];
	await using server = await httpServer((request, response) => {
		if (request.url === '/fast') response.end('here');
		else held.push(response);
	});
	await using network = open();
	const slow = Promise.all([
		...Array.from({ length: 40 }, () => network.post(`${server.origin}/slow`, SENT)),
		...Array.from({ length: 8 }, () => network.download(`${server.origin}/slow`)),
	]);
	await until('all of them are at the server', () => held.length === 48);
	assert.equal((await network.post(`${server.origin}/fast`, SENT)).body, 'here');
	assert.equal(held.length, 48);
	for (const response of held) response.end('at last');
	for (const { status } of await slow) assert.equal(status, 200);
});

test("rejects with the reason of the caller's signal", async () => {
	const giveUp = new AbortController();
	await using server = await tcpServer((socket) => socket.once('data', () => giveUp.abort(new Error('enough'))));
	await using network = open();
	await assert.rejects(network.post(server.origin, { ...SENT, signal: giveUp.signal }), { message: 'enough' });
	await assert.rejects(network.post(server.origin, { ...SENT, signal: giveUp.signal }), { message: 'enough' });
	assert.equal(server.connections, 1);
});

test('names the position of the URL in the details of a refusal', async () => {
	await using network = createNetwork({ allowPrivateNetwork: false });
	assert.throws(
		() => network.checkUrl('http://10.0.0.1/', { path: '/config/url' }),
		(thrown: Error) => {
			assert.deepEqual(
				{ ...thrown },
				{
					name: 'AppError',
					code: 'url_not_allowed',
					retry_after: undefined,
					details: [{ path: '/config/url', message: thrown.message }],
				},
			);
			return true;
		},
	);
});

/** Responds to each complete request. */
function answering(socket: Socket, answer: () => void): void {
	let text = '';
	socket.on('data', (bytes) => {
		text += bytes.toString('latin1');
		if (!text.endsWith(Buffer.from(SENT.body as string).toString('latin1'))) return;
		text = '';
		answer();
	});
}

test('ignores interim responses, however they are split into packets', async () => {
	const done = '\r\n\r\n';
	const answer = `HTTP/1.1 100 Continue${done}HTTP/1.1 103 Early Hints\r\nLink: </a>${done}HTTP/1.1 100 Go on\r\nA: b${done}`;
	const whole = Buffer.from(`${answer}HTTP/1.1 201 Made\r\nContent-Length: 12\r\n\r\nHTTP/1.1 100`);
	let cut = 0;
	await using server = await tcpServer((socket) => {
		socket.setNoDelay(true);
		answering(socket, () => {
			// After two turns of the event loop the client has read the first piece.
			const rest = () => void socket.write(whole.subarray(cut));
			socket.write(whole.subarray(0, cut), () => setImmediate(() => setImmediate(rest)));
		});
	});
	await using network = open();
	for (cut = 1; cut < whole.length; cut++) {
		const { status, body, error } = await network.post(server.origin, SENT);
		assert.deepEqual([status, body, error], [201, 'HTTP/1.1 100', null], `cut at ${cut}`);
	}
	assert.ok(server.connections < 10, `connections are kept: there were ${server.connections}`);
});

test('stops reading a response without an end', async () => {
	const flood = (head: string, more: string) => (socket: Socket) => {
		answering(socket, () => {
			socket.write(head);
			const chunk = more.repeat(1_000);
			const pour = () => {
				while (!socket.destroyed && socket.write(chunk));
			};
			socket.on('drain', pour);
			pour();
		});
	};
	const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
	const cases: Array<[name: string, server: (socket: Socket) => void, status: number | null, error: RegExp | null]> = [
		[
			'hints',
			flood('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
			null,
			/larger than 67584 bytes, headers and framing included/,
		],
		[
			'interim answers',
			flood('', 'HTTP/1.1 100 Continue\r\n\r\n'),
			null,
			/larger than 67584 bytes, headers and framing included/,
		],
		// These have sent a status, so they count as responses.
		['a chunk extension', flood(`${chunked}1;`, 'a'), 200, null],
		['trailers', flood(`${chunked}0\r\n`, 'a: b\r\n'), 200, null],
		['a body', flood('HTTP/1.1 200 OK\r\n\r\n', 'a'), 200, null],
	];
	for (const [name, serve, status, error] of cases) {
		await using server = await tcpServer(serve);
		await using network = open();
		const outcome = await network.post(server.origin, { ...SENT, timeoutMs: 20_000 });
		assert.equal(outcome.status, status, name);
		if (error === null) assert.equal(outcome.error, null, name);
		else assert.match(outcome.error ?? '', error, name);
	}
});

test('counts the bytes of each response of a connection separately', async () => {
	await using server = await tcpServer((socket) => {
		const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(200);
		answering(socket, () => void socket.write(`${hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
	});
	await using network = open();
	for (let turn = 0; turn < 200; turn++) assert.equal((await network.post(server.origin, SENT)).body, 'ok');
	assert.ok(server.connections < 10, `connections are kept: there were ${server.connections}`);
});

test('limits how long a receiver may keep idle connections open', async () => {
	const open = new Set<Socket>();
	await using server = await tcpServer((socket) => {
		open.add(socket);
		socket.on('close', () => open.delete(socket));
		const kept = 'Connection: keep-alive\r\nKeep-Alive: timeout=600';
		answering(socket, () => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${kept}\r\n\r\n`));
	});
	await using network = createNetwork({ allowPrivateNetwork: true, maxIdleMs: 10 });
	await Promise.all(Array.from({ length: 5 }, () => network.post(server.origin, SENT)));
	await until('they are closed', () => open.size === 0);
});

test('limits the number of idle connections to many receivers', async () => {
	const open = new Set<Socket>();
	await using server = await tcpServer((socket) => {
		open.add(socket);
		socket.on('close', () => open.delete(socket));
		answering(socket, () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
	});
	await using network = createNetwork({
		allowPrivateNetwork: true,
		maxIdleConnections: 4,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	const post = (at: number) => network.post(`http://receiver-${at}.example:${server.port}/`, SENT);
	for (let at = 0; at < 40; at++) assert.equal((await post(at)).body, 'ok');
	assert.equal(server.connections, 40);
	// Connections beyond the limit are closed by now, except the last ones, which have not been idle for long.
	assert.ok(open.size < 10, `${open.size} are open`);
});
