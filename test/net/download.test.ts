import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createNetwork, type Download, type DownloadOptions } from '../../src/net/index.ts';
import { until } from '../support/until.ts';
import { httpServer, tcpServer } from './servers.ts';

const open = () => createNetwork({ allowPrivateNetwork: true });

async function bytesOf({ body }: Download): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of body) chunks.push(chunk);
	return Buffer.concat(chunks);
}

/** Downloads the whole body of a path. */
async function fetchFrom(origin: string, path = '/', options?: DownloadOptions): Promise<Buffer> {
	await using network = open();
	return await bytesOf(await network.download(origin + path, options));
}

test('downloads a file with its type and its final URL', async () => {
	await using server = await httpServer((request, response) => {
		assert.equal(request.headers['user-agent'], 'Parley');
		response.setHeader('content-type', 'text/markdown; charset=utf-8').end('# Hello');
	});
	await using network = open();
	const file = await network.download(`${server.origin}/a.md`);
	assert.equal(file.status, 200);
	assert.equal(file.finalUrl, `${server.origin}/a.md`);
	assert.equal(file.headers['content-type'], 'text/markdown; charset=utf-8');
	assert.equal(String(await bytesOf(file)), '# Hello');
});

test('uses connections again', async () => {
	await using server = await httpServer((request, response) => response.end(request.url));
	await using network = open();
	for (let i = 0; i < 10; i++) {
		assert.equal(String(await bytesOf(await network.download(`${server.origin}/${i}`))), `/${i}`);
	}
	// Two, because the next request may begin just before the connection of the last one is free.
	assert.ok(server.connections <= 2, `${server.connections} connections`);
});

const text = randomBytes(2_000).toString('hex').repeat(10);
for (const [coding, packed] of Object.entries({
	gzip: gzipSync(text),
	'x-gzip': gzipSync(text),
	GZIP: gzipSync(text),
	deflate: deflateSync(text),
	'deflate ': deflateRawSync(text),
	br: brotliCompressSync(text),
	identity: Buffer.from(text),
})) {
	test(`a body with the Content-Encoding "${coding}" (${packed[0]?.toString(16)}…) is decompressed`, async () => {
		await using server = await httpServer((_request, response) => {
			response.setHeader('content-encoding', coding).end(packed);
		});
		assert.equal(String(await fetchFrom(server.origin)), text);
	});
}

test('delivers a whole file to a slow reader', async () => {
	const file = randomBytes(3_000_000);
	await using server = await httpServer((_request, response) => response.writeHead(200).end(file));
	await using network = open();
	await using download = await network.download(`${server.origin}/slow`);
	const chunks: Buffer[] = [];
	for await (const chunk of download.body) {
		chunks.push(chunk);
		await setTimeout(1);
	}
	assert.ok(Buffer.concat(chunks).equals(file));
});

test('accepts an empty body in every coding', async () => {
	await using server = await httpServer((_request, response) => response.setHeader('content-encoding', 'gzip').end());
	assert.equal((await fetchFrom(server.origin)).length, 0);
});

test('refuses damaged, truncated and unknown codings as an unreadable file', async () => {
	const whole = gzipSync(text);
	const bodies: Record<string, [coding: string, body: Buffer]> = {
		'/damaged': ['gzip', Buffer.concat([whole.subarray(0, 50), randomBytes(500), whole.subarray(550)])],
		'/truncated': ['gzip', whole.subarray(0, -20)],
		'/no-gzip': ['gzip', Buffer.from('plain text')],
		'/no-brotli': ['br', Buffer.from('plain text, and not at all brotli')],
		'/unknown': ['zstd', whole],
		'/stacked': ['gzip, gzip', gzipSync(whole)],
	};
	await using server = await httpServer((request, response) => {
		const [coding, body] = bodies[request.url!]!;
		response.setHeader('content-encoding', coding).end(body);
	});
	for (const path of Object.keys(bodies)) {
		await assert.rejects(fetchFrom(server.origin, path), { name: 'AppError', code: 'unreadable_file' }, path);
	}
});

test('applies the limit of sent bytes exactly, with and without Content-Length', async () => {
	await using server = await httpServer((request, response) => {
		if (request.url === '/announced') response.setHeader('content-length', 1_000);
		response.write(Buffer.alloc(400));
		response.end(Buffer.alloc(600));
	});
	for (const path of ['/announced', '/chunked']) {
		assert.equal((await fetchFrom(server.origin, path, { maxWireBytes: 1_000 })).length, 1_000);
		await assert.rejects(fetchFrom(server.origin, path, { maxWireBytes: 999 }), /larger than 999 bytes/);
	}
});

test('applies the limit of decompressed bytes exactly', async () => {
	await using server = await httpServer((_request, response) => {
		response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(100_000)));
	});
	assert.equal((await fetchFrom(server.origin, '/', { maxDecodedBytes: 100_000 })).length, 100_000);
	await assert.rejects(fetchFrom(server.origin, '/', { maxDecodedBytes: 99_999 }), /larger than 99999 bytes/);
});

test('stops a decompression bomb at the limit', async () => {
	// gzip allows several members in a row: 400 MB from 400 kB.
	const bomb = Buffer.concat(Array<Buffer>(40).fill(gzipSync(Buffer.alloc(10_000_000))));
	await using server = await httpServer((_request, response) => {
		response.setHeader('content-encoding', 'gzip').end(bomb);
	});
	await using network = open();
	let size = 0;
	await assert.rejects(async () => {
		for await (const chunk of (await network.download(server.origin)).body) size += chunk.length;
	}, /larger than 20 MB/);
	assert.ok(size <= 20_000_000, `${size} bytes were handed out`);
});

test('ends a slow endless body at the deadline', async () => {
	let gone = false;
	await using server = await httpServer((_request, response) => {
		const dripping = setInterval(() => response.write('x'), 5);
		response.on('close', () => {
			clearInterval(dripping);
			gone = true;
		});
	});
	await assert.rejects(fetchFrom(server.origin, '/', { timeoutMs: 150 }), /within 0\.15 seconds/);
	await until('the connection is closed', () => gone);
});

test('ends a connection to a silent server at the deadline, in HTTP and in TLS', async () => {
	await using server = await tcpServer(() => {});
	for (const scheme of ['http', 'https']) {
		const late = fetchFrom(`${scheme}://127.0.0.1:${server.port}`, '/', { timeoutMs: 100 });
		await assert.rejects(late, { code: 'unreadable_file', message: /within 0\.1 seconds/ });
	}
});

test('ends a lookup without a result at the deadline', async () => {
	await using network = createNetwork({ allowPrivateNetwork: true, resolve: () => new Promise(() => {}) });
	await assert.rejects(network.download('http://stuck.example/', { timeoutMs: 50 }), /within 0\.05 seconds/);
});

/** Starts a server that sends a megabyte of a response without an end. */
function endlessServer(onClose: () => void) {
	return httpServer((_request, response) => {
		response.on('close', onClose);
		response.write(Buffer.alloc(1_000_000));
	});
}

test('closes the connection of an unread response at the deadline', async () => {
	let gone = false;
	await using server = await endlessServer(() => {
		gone = true;
	});
	await using network = open();
	await network.download(server.origin, { timeoutMs: 100 });
	await until('the connection is closed', () => gone);
});

test('closes the connection of a disposed response at once', async () => {
	let gone = false;
	await using server = await endlessServer(() => {
		gone = true;
	});
	await using network = open();
	{
		await using _unwanted = await network.download(server.origin);
	}
	await until('the connection is closed', () => gone);
});

test("rejects with the reason of the caller's signal at every stage", async () => {
	await using silent = await tcpServer(() => {});
	await using slow = await httpServer((_request, response) => void response.write('x'));
	await using network = open();
	const reason = new Error('the server stops');
	await assert.rejects(network.download(silent.origin, { signal: AbortSignal.abort(reason) }), reason);
	const waiting = new AbortController();
	const early = network.download(silent.origin, { signal: waiting.signal });
	await until('the server has a connection', () => silent.connections > 0);
	waiting.abort(reason);
	await assert.rejects(early, reason);
	const reading = new AbortController();
	const { body } = await network.download(slow.origin, { signal: reading.signal });
	await assert.rejects(async () => {
		for await (const chunk of body) if (chunk.length > 0) reading.abort(reason);
	}, reason);
});

test('refuses a body that breaks off as an unreadable file', async () => {
	await using server = await tcpServer((socket) => {
		socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this'));
	});
	await assert.rejects(fetchFrom(server.origin), { code: 'unreadable_file', message: /broke off/ });
});

test('refuses a response that is not HTTP as an unreadable file', async () => {
	await using server = await tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
	await assert.rejects(fetchFrom(server.origin), { code: 'unreadable_file' });
	await assert.rejects(fetchFrom(`https://127.0.0.1:${server.port}`), { code: 'unreadable_file', message: /TLS/ });
});

test('distinguishes a closed port and an unknown name in the sentence', async () => {
	const server = await tcpServer(() => {});
	await server[Symbol.asyncDispose]();
	await assert.rejects(fetchFrom(server.origin), { code: 'unreadable_file', message: /^Could not connect to 127/ });
	await using network = createNetwork({ allowPrivateNetwork: true, resolve: async () => [] });
	await assert.rejects(network.download('http://nowhere.example/'), /nowhere\.example cannot be resolved/);
});

test('does not delay a key set behind documents of the same server', async () => {
	const held: ServerResponse[] = [];
	await using server = await httpServer((request, response) => {
		if (request.url === '/keys') response.end('{"keys":[]}');
		else held.push(response);
	});
	await using network = open();
	const slow = Promise.allSettled(Array.from({ length: 20 }, () => network.download(`${server.origin}/document`)));
	await until('some are at the server', () => held.length >= 8);
	const keys = await network.download(`${server.origin}/keys`, { purpose: 'key_set' });
	assert.equal(String(await bytesOf(keys)), '{"keys":[]}');
	const more = Promise.allSettled(
		Array.from({ length: 40 }, () => network.download(`${server.origin}/slow-keys`, { purpose: 'key_set' })),
	);
	await until('key sets do not wait for each other either', () => held.length >= 48);
	await network[Symbol.asyncDispose]();
	for (const { status } of [...(await slow), ...(await more)]) assert.equal(status, 'rejected');
});

test('refuses a status other than 2xx with a sentence that names it', async () => {
	await using server = await httpServer((request, response) => {
		response.statusCode = Number(request.url!.slice(1));
		response.end('no file');
	});
	for (const status of [300, 302, 304, 400, 404, 500]) {
		await assert.rejects(fetchFrom(server.origin, `/${status}`), new RegExp(`status ${status}`));
	}
});

test('follows three redirects and not a fourth', async () => {
	await using server = await httpServer((request, response) => {
		const left = Number(request.url!.slice(1));
		if (left === 0) return response.end('here');
		return response.writeHead(302, { location: `/${left - 1}` }).end('elsewhere');
	});
	await using network = open();
	const file = await network.download(`${server.origin}/3`);
	assert.equal(file.finalUrl, `${server.origin}/0`);
	assert.equal(String(await bytesOf(file)), 'here');
	await assert.rejects(network.download(`${server.origin}/4`), /more than 3 times/);
	await assert.rejects(network.download(`${server.origin}/1`, { maxRedirects: 0 }), /more than 0 times/);
});

test('refuses a redirect to a private address without a connection', async () => {
	await using canary = await tcpServer((socket) => socket.destroy());
	await using front = await httpServer((request, response) => {
		response.writeHead(302, { location: decodeURIComponent(request.url!.slice(1)) }).end();
	});
	// The front stands in for a public server, on the only address that counts as public.
	const names: Record<string, string> = { 'front.example': '127.0.0.1', 'evil.example': '127.0.0.3' };
	await using network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (hostname) => [{ address: names[hostname]!, family: 4 }],
		isAddressAllowed: (address) => address === '127.0.0.1',
	});
	const targets = [
		'localhost',
		'127.0.0.2',
		'[::1]',
		'[::ffff:127.0.0.1]',
		'10.0.0.1',
		'evil.example',
		'user@front.example',
	];
	for (const target of targets) {
		const path = encodeURIComponent(`http://${target}:${canary.port}/`);
		await assert.rejects(
			network.download(`http://front.example:${front.port}/${path}`),
			{ code: 'url_not_allowed' },
			target,
		);
	}
	for (const location of ['file:///etc/passwd', 'ftp://front.example/', 'data:text/plain,x', 'javascript:alert(1)']) {
		const path = encodeURIComponent(location);
		await assert.rejects(network.download(`http://front.example:${front.port}/${path}`), { code: 'url_not_allowed' });
	}
	await assert.rejects(network.download(`http://front.example:${front.port}/${encodeURIComponent('http://[')}`), {
		code: 'unreadable_file',
	});
	assert.equal(canary.connections, 0);
});

test('stores and sends no cookies, and sets the headers of the connection itself', async () => {
	const seen: IncomingMessage['headers'][] = [];
	await using server = await httpServer((request, response) => {
		seen.push(request.headers);
		response.setHeader('set-cookie', 'a=b');
		if (request.url === '/') return response.writeHead(302, { location: '/next' }).end();
		return response.end();
	});
	await using network = open();
	const file = await network.download(server.origin, {
		headers: {
			Cookie: 'c=d',
			Host: 'other.example',
			Connection: 'upgrade',
			'Accept-Encoding': 'zstd',
			Accept: 'text/html',
		},
	});
	await bytesOf(file);
	assert.equal(file.headers['set-cookie'], undefined);
	assert.equal(seen.length, 2);
	for (const headers of seen) {
		assert.equal(headers.cookie, undefined);
		assert.equal(headers.host, `127.0.0.1:${server.port}`);
		assert.equal(headers['accept-encoding'], 'gzip, deflate, br');
		assert.equal(headers.accept, 'text/html');
	}
});

test('aborts downloads when the network is disposed', async () => {
	await using server = await httpServer((_request, response) => void response.write('x'));
	const network = open();
	const { body } = await network.download(server.origin);
	await assert.rejects(
		async () => {
			for await (const chunk of body) if (chunk.length > 0) await network[Symbol.asyncDispose]();
		},
		{ code: 'unreadable_file' },
	);
	await assert.rejects(network.download(server.origin), { code: 'unreadable_file' });
});
