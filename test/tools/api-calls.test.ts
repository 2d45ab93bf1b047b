// Own process: it measures the buffers of the process.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { SecretBox } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { ToolSecrets, Tools } from '../../src/tools/index.ts';
import { recordingLog } from '../api/traces.ts';
import { httpServer, tcpServer } from '../net/servers.ts';
import { until } from '../support/until.ts';
import { type ApiPeer, apiPeer } from './api-peer.ts';
import { neverAborts, pool, type ToolsHarness, toolsHarness } from './tools-harness.ts';

const get = (room: ToolsHarness, peer: Pick<ApiPeer, 'origin'>, more: object = {}) =>
	room.only(room.api({ method: 'GET', url: `${peer.origin}/`, ...more }));

test('passes a JSON or text response to the model unchanged', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	const answers: Array<[type: string | null, body: string | Buffer, told: string]> = [
		['application/json', '{ "degrees": 21 }', '{ "degrees": 21 }'],
		['application/problem+json; charset=utf-8', '{}', '{}'],
		['text/plain', 'größer ☀ 😀', 'größer ☀ 😀'],
		['text/html; charset=ISO-8859-1', Buffer.from('größer', 'latin1'), 'größer'],
		['TEXT/CSV;charset="iso-8859-15"', Buffer.from([0xa4]), '€'],
		['application/xml; charset=nonesuch', '<a/>', '<a/>'],
		['application/x-ndjson', '{}\n{}', '{}\n{}'],
		[null, 'words', 'words'],
		['image/png', '', 'The API answered with status 200 and no content.'],
	];
	for (const [type, body, result] of answers) {
		peer.respond = (response) => {
			if (type !== null) response.setHeader('content-type', type);
			response.end(body);
		};
		assert.deepEqual(
			await call({}, neverAborts),
			{ result, is_error: false, error: null, status_code: 200 },
			String(type),
		);
	}
	peer.respond = (response) => void response.writeHead(204).end();
	assert.equal((await call({}, neverAborts)).result, 'The API answered with status 204 and no content.');
	peer.respond = (response) => {
		response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync('packed'));
	};
	assert.equal((await call({}, neverAborts)).result, 'packed');
});

test('rejects a response that is not text, whatever its Content-Type', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	for (const [type, body] of [
		['image/png', 'PNG'],
		['application/pdf', '%PDF'],
		['application/octet-stream', 'words'],
		['text/plain', 'a\0b'],
		[null, 'a\0b'],
	] as const) {
		peer.respond = (response) => {
			if (type !== null) response.setHeader('content-type', type);
			response.end(body);
		};
		const { is_error, error, result } = await call({}, neverAborts);
		assert.deepEqual([is_error, error?.code], [true, 'unusable_answer'], String(type));
		assert.match(result, /^The API answered with \S+, which is not text\.$/);
	}
});

test('a long answer is cut between characters at 32 KiB, and its end is not waited for', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	peer.respond = (response) => {
		// Never ended.
		response.writeHead(200, { 'content-type': 'text/plain' }).write(`a${'😀'.repeat(1_000_000)}`);
	};
	const { result, is_error } = await call({}, neverAborts);
	assert.equal(is_error, false);
	const [text = '', note] = result.split('\n');
	assert.match(text, /^a(😀)+$/u);
	assert.equal(note, '[The rest was cut off: the result is longer than 32 KiB.]');
	const size = Buffer.byteLength(result);
	assert.ok(size <= 32_768 && size > 32_764, `${size} bytes`);
	await until('the connection is closed', () => peer.openConnections() === 0);

	const exact = 'ü'.repeat(16_384);
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end(exact);
	assert.equal((await call({}, neverAborts)).result, exact, 'what just fits is whole');
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end(`${exact}.`);
	assert.match((await call({}, neverAborts)).result, /^ü+\n\[The rest was cut off/);
});

test('reads a highly compressed response only as far as the result needs', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	const bomb = gzipSync(Buffer.alloc(200_000_000, 'x'));
	peer.respond = (response) => {
		response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb);
	};
	const before = process.memoryUsage().arrayBuffers;
	const { result } = await call({}, neverAborts);
	assert.match(result, /^x+\n\[The rest was cut off/);
	assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000);
});

test('reports a status other than 2xx as an error with the beginning of the body', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	peer.respond = (response) => {
		response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"no such city"}');
	};
	assert.deepEqual(await call({}, neverAborts), {
		result: 'The API answered with status 404.\n{"error":"no such city"}',
		is_error: true,
		error: { code: 'bad_status', message: 'The API answered with status 404.' },
		status_code: 404,
	});
	peer.respond = (response) => void response.writeHead(500, { 'content-type': 'image/png' }).end('PNG');
	assert.equal((await call({}, neverAborts)).result, 'The API answered with status 500.');
	peer.respond = (response) => void response.writeHead(500, { 'content-type': 'text/plain' }).end('x'.repeat(100_000));
	const { result } = await call({}, neverAborts);
	assert.ok(result.length < 5_000 && result.startsWith('The API answered with status 500.\nxxx'));
});

test('does not follow a redirect, and sends the credentials to no other server', async () => {
	await using other = await apiPeer();
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer, { auth: { type: 'bearer', token: 'swordfish' } });
	for (const status of [301, 302, 303, 307, 308]) {
		peer.respond = (response) => void response.writeHead(status, { location: `${other.origin}/` }).end();
		const { error } = await call({}, neverAborts);
		assert.equal(error?.message, `The API answered with status ${status}, and redirects are not followed.`);
	}
	assert.equal(other.requests.length, 0);
	assert.equal(peer.requests.length, 5);
});

test('the time limit is that of the whole call: name, connection, TLS, answer and body', async () => {
	await using silent = await tcpServer((socket) => void socket.resume());
	await using slow = await httpServer((_request, response) => {
		response.writeHead(200, { 'content-type': 'text/plain' }).write('part');
	});
	const network = createNetwork({
		allowPrivateNetwork: true,
		resolve: (name) =>
			name === 'lost.example' ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
	});
	await using room = toolsHarness({ network });
	for (const url of [
		'http://lost.example/',
		`${silent.origin}/`,
		`https://127.0.0.1:${silent.port}/`,
		`${slow.origin}/`,
	]) {
		const { call } = await room.only(room.api({ method: 'GET', url, timeout_ms: 150 }));
		const { result, is_error, error } = await call({}, neverAborts);
		assert.deepEqual([is_error, error?.code], [true, 'timed_out'], url);
		assert.equal(result, 'The tool did not answer within 0.15 seconds.');
	}
});

test('reports a missing response in a sentence', async () => {
	await using closing = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
	await using broken = await tcpServer((socket) => {
		socket.once('data', () =>
			socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\npart'),
		);
	});
	const gone = await tcpServer(() => {});
	await gone[Symbol.asyncDispose]();
	const network = createNetwork({ allowPrivateNetwork: true, resolve: async () => [] });
	await using room = toolsHarness({ network });
	for (const [url, sentence] of [
		[closing.origin, /^The connection to 127\.0\.0\.1:\d+ broke off before there was a response\.$/],
		[broken.origin, /^The connection broke off before the answer was complete\.$/],
		[gone.origin, /^Could not connect to 127\.0\.0\.1:\d+\.$/],
		['http://nowhere.example', /^The name nowhere\.example cannot be resolved\.$/],
	] as const) {
		const { result, error } = await (await get(room, { origin: url })).call({}, neverAborts);
		assert.equal(error?.code, 'unreachable', url);
		assert.match(result, sentence);
	}
});

test('no name leads a call into the private network, however late it says so', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	const network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	await using room = toolsHarness({ network });
	for (const url of [
		`https://rebound.example:${bird.port}`,
		`https://127.0.0.1:${bird.port}`,
		`http://rebound.example:${bird.port}`,
	]) {
		const { error } = await (await get(room, { origin: url })).call({}, neverAborts);
		assert.equal(error?.code, 'url_not_allowed', url);
	}
	assert.equal(bird.connections, 0);
});

test('an aborted call rejects with the caller’s reason and closes the connection', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const { call } = await get(room, peer);
	peer.respond = (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('part');
	const giveUp = new AbortController();
	const outcome = call({}, giveUp.signal);
	await until('it was sent', () => peer.requests.length === 1);
	giveUp.abort(new Error('enough'));
	await assert.rejects(outcome, { message: 'enough' });
	await until('the connection is closed', () => peer.openConnections() === 0);
	await assert.rejects(call({}, giveUp.signal), { message: 'enough' });
	await assert.rejects(room.tools.functionsOf([], giveUp.signal), { message: 'enough' });
	assert.equal(peer.requests.length, 1);
});

test('no secret is in a result, an error or the log, whatever an API returns', async () => {
	const { log, text } = recordingLog();
	await using peer = await apiPeer();
	await using room = toolsHarness({ log });
	const secret = 'sword fish/"1"';
	const basic = Buffer.from(`ali:${secret}`).toString('base64');
	const configs = [
		{ auth: { type: 'bearer', token: 'swordfish-1' } },
		{ auth: { type: 'basic', username: 'ali', password: secret } },
		{ auth: { type: 'header', name: 'X-Word', value: secret } },
		{ headers: { Cookie: 'session=swordfish-1; theme=dark' } },
	];
	const echoed = ['swordfish-1', secret, JSON.stringify(secret), encodeURIComponent(secret), basic].join('\n');
	for (const config of configs) {
		const { call } = await get(room, peer, config);
		for (const status of [200, 403]) {
			peer.respond = (response, { headers }) => {
				const seen = [headers.authorization, headers['x-word'], headers.cookie].filter(Boolean).join('\n');
				response.writeHead(status, { 'content-type': 'text/plain' }).end(`You sent ${seen} and ${seen}`);
			};
			const outcome = JSON.stringify(await call({}, neverAborts));
			assert.match(outcome, /You sent .*\*\*\*/);
			assert.doesNotMatch(outcome, /sword|ZmlzaC|YWxpOn/, JSON.stringify(config));
		}
	}
	const { call } = await get(room, peer, configs[1]);
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end(echoed);
	assert.doesNotMatch((await call({}, neverAborts)).result, /sword%20|sword fish|YWxpOn/);
	assert.doesNotMatch(text(), /sword|YWxpOn/);
	assert.match(text(), /bad_status/);
});

test('no part of a secret remains where a response is cut', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const token = 'swordfish'.repeat(20);
	const { call } = await get(room, peer, { auth: { type: 'bearer', token } });
	for (const length of [32_700, 32_768, 65_500, 65_536 - 90]) {
		peer.respond = (response) => {
			response.setHeader('content-type', 'text/plain').end('x'.repeat(length) + token + 'x'.repeat(100_000));
		};
		assert.doesNotMatch((await call({}, neverAborts)).result, /sword/, String(length));
	}
	// So many that everything that is read fits into the result after redaction.
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end(`${token} `.repeat(1_000));
	assert.doesNotMatch((await call({}, neverAborts)).result, /sword/);
});

test('a call fails without details when a secret cannot be opened', async () => {
	await using peer = await apiPeer();
	await using room = toolsHarness();
	const tool = room.api({ method: 'GET', url: `${peer.origin}/`, auth: { type: 'bearer', token: 'swordfish' } });
	const secrets = new SecretBox(randomBytes(32));
	const { log, text } = recordingLog();
	await using other = new Tools({
		secrets,
		network: room.network,
		checker: pool,
		clock: room.clock,
		log,
		version: '1',
	});
	assert.throws(() => new ToolSecrets(secrets).open(tool.config as never));
	const [only] = await other.functionsOf([tool], neverAborts);
	const { result, error } = (await only?.call({}, neverAborts)) ?? assert.fail();
	assert.deepEqual([result, error?.code], ["The tool's stored secret cannot be opened.", 'internal_error']);
	assert.match(text(), /PARLEY_SECRET_KEY/);
	assert.equal(peer.requests.length, 0);
});
