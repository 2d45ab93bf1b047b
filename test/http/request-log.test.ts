import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { AppError, deferred } from '../../src/base/index.ts';
import { RequestLog, type Route } from '../../src/http/index.ts';
import { IterableSource } from '../support/pull-source.ts';
import { until } from '../support/until.ts';
import { json, RawClient, type RunningServer, start } from './harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
type Line = Record<string, any>;

interface Logged extends RunningServer {
	lines: Line[];
	/** The lines about requests, when there are `count`. */
	requests(count: number): Promise<Line[]>;
}

async function startLogged(
	t: TestContext,
	routes: Route[],
	{ sample: sampleInterval = 0, starting: isStarting = false } = {},
): Promise<Logged> {
	const lines: Line[] = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const observer = new RequestLog({ log, sampleInterval, clientNameOf: (address) => `<${address}>` });
	const running = await start(t, routes, {
		log,
		observers: [observer],
		isStarting,
		limits: { heartbeatIntervalMs: 20, sendTimeoutMs: 5_000 },
	});
	const requests = async (count: number) => {
		const found = () => lines.filter(({ msg }) => msg === 'request');
		await until(`there are ${count} lines`, () => found().length >= count);
		assert.equal(found().length, count, JSON.stringify(found()));
		return found();
	};
	return { ...running, lines, requests };
}

const held = deferred<void>();
async function* twoEvents() {
	yield { event: 'a', data: 'one' };
	yield { event: 'a', data: 'zwölf' };
}
async function* endless(signal: AbortSignal) {
	yield { event: 'a', data: 'one' };
	await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const ROUTES: Route[] = [
	{
		method: 'POST',
		path: '/things/{id}',
		async handle(request) {
			request.addLogFields({ workspace: 'ws_1' });
			await request.json();
			request.addLogFields({ credential: 'key_1' });
			return json(201, { name: 'Zoë' });
		},
	},
	{ method: 'GET', path: '/now', handle: () => json(200, {}) },
	{ method: 'GET', path: '/sampled', isLogSampled: true, handle: () => json(200, {}) },
	{
		method: 'GET',
		path: '/sampled-refusal',
		isLogSampled: true,
		handle() {
			throw new AppError('domain_not_allowed');
		},
	},
	{ method: 'GET', path: '/same', handle: () => ({ status: 304 }) },
	{
		method: 'GET',
		path: '/defect',
		async handle() {
			throw new Error('the table is gone');
		},
	},
	{
		method: 'GET',
		path: '/disk',
		async handle() {
			const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
			throw new AppError('unavailable', 'The change could not be written to disk.', { cause });
		},
	},
	{ method: 'GET', path: '/events', handle: async () => ({ events: new IterableSource(twoEvents()) }) },
	{
		method: 'GET',
		path: '/endless',
		handle: async (request) => ({ events: new IterableSource(endless(request.signal)) }),
	},
	{
		method: 'GET',
		path: '/slow',
		async handle() {
			await held.promise;
			return json(200, {});
		},
	},
	{ method: 'GET', path: '/large', handle: async () => ({ status: 200, body: 'x'.repeat(300_000) }) },
];

test('logs one line per request: route instead of path, status, bytes, and the fields that the handler added', async (t) => {
	const { url, requests } = await startLogged(t, ROUTES);
	const response = await fetch(`${url}/things/secret-thing?token=LEAK`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: 'Bearer LEAK', cookie: 'a=LEAK' },
		body: '{"text": "LEAK ü"}',
	});
	const body = await response.text();
	const [line] = (await requests(1)) as [Line];
	const { duration_ms, time, pid, hostname, ...rest } = line;
	assert.ok(typeof duration_ms === 'number' && duration_ms >= 0);
	assert.deepEqual(rest, {
		level: 30,
		msg: 'request',
		request_id: response.headers.get('x-request-id'),
		method: 'POST',
		route: '/things/{id}',
		status: 201,
		outcome: 'completed',
		request_bytes: 19,
		response_bytes: Buffer.byteLength(body),
		workspace: 'ws_1',
		credential: 'key_1',
		client: '<127.0.0.1>',
	});
	assert.doesNotMatch(JSON.stringify(line), /LEAK|secret-thing/);
});

test('logs requests that are rejected before a handler runs: unknown path, wrong method, ambiguous framing', async (t) => {
	const { url, port, requests } = await startLogged(t, ROUTES);
	await (await fetch(`${url}/secret-path`)).text();
	await (await fetch(`${url}/now`, { method: 'DELETE' })).text();
	const peer = new RawClient(t, port);
	peer.send('POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
	await peer.untilClosed();
	const lines = await requests(3);
	assert.deepEqual(
		lines.map(({ method, route, status, error }) => [method, route, status, error]),
		[
			['GET', null, 404, 'not_found'],
			['DELETE', '/now', 405, 'method_not_allowed'],
			['POST', null, 400, 'invalid_request'],
		],
	);
	assert.ok(lines.every(({ client }) => client === '<127.0.0.1>'));
});

test('logs the cause of a server failure in a line with the same request id', async (t) => {
	const { url, lines, requests } = await startLogged(t, ROUTES);
	const defect = await fetch(`${url}/defect`);
	const disk = await fetch(`${url}/disk`);
	const requestLines = await requests(2);
	assert.deepEqual(
		requestLines.map(({ status, error }) => [status, error]),
		[
			[500, 'internal_error'],
			[503, 'unavailable'],
		],
	);
	const failures = lines.filter(({ msg }) => msg === 'a request failed');
	assert.deepEqual(
		failures.map(({ request_id }) => request_id),
		[defect, disk].map(({ headers }) => headers.get('x-request-id')),
	);
	assert.match(failures[0]?.err.message, /the table is gone/);
	assert.deepEqual(failures[1]?.causes, ['SQLITE_FULL: database or disk is full']);
});

test('logs no body bytes for HEAD and 304, and all bytes of a large response', async (t) => {
	const { url, requests } = await startLogged(t, ROUTES);
	await fetch(`${url}/large`, { method: 'HEAD' });
	await fetch(`${url}/same`);
	await (await fetch(`${url}/large`)).text();
	assert.deepEqual(
		(await requests(3)).map(({ method, status, response_bytes }) => [method, status, response_bytes]),
		[
			['HEAD', 200, 0],
			['GET', 304, 0],
			['GET', 200, 300_000],
		],
	);
});

test('logs a stream once, at its end, with whether the client left', async (t) => {
	const { url, port, lines, requests } = await startLogged(t, ROUTES);
	const text = await (await fetch(`${url}/events`)).text();
	const [ended] = (await requests(1)) as [Line];
	assert.deepEqual(
		[ended.stream, ended.outcome, ended.status, ended.response_bytes],
		[true, 'completed', 200, Buffer.byteLength(text)],
	);
	const peer = new RawClient(t, port);
	peer.send('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
	await peer.untilText('data: one');
	assert.equal(lines.length, 1, 'an open stream has no line yet');
	peer.socket.destroy();
	const [, left] = (await requests(2)) as [Line, Line];
	assert.deepEqual([left.stream, left.outcome, left.status], [true, 'client_left', 200]);
	assert.ok(left.response_bytes > 0);
});

test('logs no status for a client that leaves before its response', async (t) => {
	const { port, requests } = await startLogged(t, ROUTES);
	const peer = new RawClient(t, port);
	peer.send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
	const upload = new RawClient(t, port);
	upload.send('POST /things/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
	const answered = new RawClient(t, port);
	answered.send('GET /same HTTP/1.1\r\nHost: a\r\n\r\n');
	await answered.untilText('304');
	peer.socket.destroy();
	upload.socket.destroy();
	const lines = await requests(3);
	const of = (route: string) => {
		const line = lines.find((line) => line.route === route);
		return [line?.status, line?.outcome, line?.client, line?.request_bytes];
	};
	assert.deepEqual(of('/slow'), [null, 'client_left', '<127.0.0.1>', 0]);
	assert.deepEqual(of('/things/{id}'), [null, 'client_left', '<127.0.0.1>', 3]);
	held.resolve();
});

test('logs a sample of the successes of sampled routes, and every rejection', async (t) => {
	const { url, requests } = await startLogged(t, ROUTES, { sample: 3 });
	for (let at = 0; at < 7; at++) await (await fetch(`${url}/sampled`)).text();
	await (await fetch(`${url}/sampled-refusal`)).text();
	await (await fetch(`${url}/now`)).text();
	assert.deepEqual(
		(await requests(4)).map(({ route, status, sample }) => [route, status, sample]),
		[
			['/sampled', 200, 3],
			['/sampled', 200, 3],
			['/sampled-refusal', 403, undefined],
			['/now', 200, undefined],
		],
	);
	const none = await startLogged(t, ROUTES, { sample: 0 });
	await (await fetch(`${none.url}/sampled`)).text();
	await (await fetch(`${none.url}/now`)).text();
	await none.requests(1);
});

test('serves its first routes while it starts, and answers 503 elsewhere until it has the others', async (t) => {
	const { url, server, requests } = await startLogged(t, [ROUTES[1] as Route], { starting: true });
	assert.equal((await fetch(`${url}/now`)).status, 200);
	const early = await fetch(`${url}/events`);
	assert.deepEqual([early.status, early.headers.get('retry-after')], [503, '1']);
	assert.equal(((await early.json()) as { error: { code: string } }).error.code, 'unavailable');
	server.replaceRoutes(ROUTES);
	assert.equal((await fetch(`${url}/events`)).status, 200);
	assert.equal((await fetch(`${url}/nowhere`)).status, 404);
	server.drain();
	const late = await fetch(`${url}/now`);
	assert.equal(late.status, 503);
	assert.deepEqual(
		(await requests(5)).map(({ route, status }) => [route, status]),
		[
			['/now', 200],
			[null, 503],
			['/events', 200],
			[null, 404],
			['/now', 503],
		],
	);
});
