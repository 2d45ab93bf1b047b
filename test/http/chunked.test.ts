import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EncodableEvent, Route, RouteResponse } from '../../src/http/index.ts';
import { IterableSource } from '../support/pull-source.ts';
import { eventually, json, RawClient, start } from './harness.ts';

const HEAD = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const BODY = '6\r\n"body"\r\n0\r\n\r\n';
const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';
const LARGE = 'x'.repeat(300_000);

/** Routes that count how often each ran. */
function counting(): { ran: Record<string, number>; routes: Route[] } {
	const ran: Record<string, number> = { echo: 0, next: 0, stop: 0 };
	const count = (name: string, response: RouteResponse): RouteResponse => {
		ran[name] = (ran[name] ?? 0) + 1;
		return response;
	};
	async function* two(): AsyncGenerator<EncodableEvent> {
		yield { event: 'one', data: '1' };
		yield { event: 'two', data: '2' };
	}
	const routes: Route[] = [
		{
			method: 'POST',
			path: '/echo',
			async handle(request) {
				const body = await request.json();
				return count('echo', json(200, { body }));
			},
		},
		{ method: 'POST', path: '/stop', handle: () => count('stop', { status: 200, body: 'stopped' }) },
		{ method: 'POST', path: '/none', handle: () => count('none', { status: 204 }) },
		{ method: 'POST', path: '/large', handle: () => count('large', { status: 200, body: LARGE }) },
		{ method: 'POST', path: '/events', handle: () => ({ events: new IterableSource(two()) }) },
		{ method: 'GET', path: '/next', handle: () => count('next', { status: 200, body: 'next' }) },
	];
	return { ran, routes };
}

const to = (path: string, body = '0\r\n\r\n') =>
	`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

test('answers a chunked request and closes its connection', async (t) => {
	const { ran, routes } = counting();
	const { port } = await start(t, routes);
	for (const parts of [[HEAD + BODY], [HEAD, BODY], [HEAD, '6\r\n"bo', 'dy"\r\n', '0\r\n', '\r\n']]) {
		const peer = new RawClient(t, port);
		for (const part of parts) {
			peer.send(part);
			await new Promise((resolve) => setImmediate(resolve));
		}
		const text = await peer.untilClosed();
		assert.match(text, /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*connection: close\r\n/i);
		assert.ok(text.endsWith('{"body":"body"}'), text);
	}
	assert.equal(ran.echo, 3);
});

test('responds when a handler does not read its chunked body, and closes the connection', async (t) => {
	const { routes } = counting();
	const { port } = await start(t, routes);
	const peer = new RawClient(t, port);
	peer.send(to('/stop', BODY));
	assert.match(await peer.untilClosed(), /connection: close\r\n(.*\r\n)*\r\nstopped$/i);
});

/** The HTTP library reads each of these as the end of a chunked body. */
const ENDINGS: Record<string, string> = {
	'a well-formed end': BODY,
	'two bytes in the place of the last line break': '6\r\n"body"\r\n0\r\nXX',
	'a bare line feed behind a size': '6\n"body"\r\n0\r\n\r\n',
	'wrong bytes behind the data of a chunk': '6\r\n"body"XX0\r\n\r\n',
	'blanks behind a size': '6  \r\n"body"\r\n0\r\n\r\n',
};

for (const [what, body] of Object.entries(ENDINGS)) {
	test(`runs nothing that follows a chunked body with ${what} as a request`, async (t) => {
		const { ran, routes } = counting();
		const { port } = await start(t, routes);
		const together = new RawClient(t, port);
		together.send(HEAD + body + NEXT);
		assert.doesNotMatch(await together.untilClosed(), /next/);
		const head = new RawClient(t, port);
		head.send(HEAD);
		head.send(body + NEXT);
		assert.doesNotMatch(await head.untilClosed(), /next/);
		const later = new RawClient(t, port);
		later.send(HEAD + body);
		await later.untilText('{"body":"body"}');
		later.send(NEXT);
		assert.doesNotMatch(await later.untilClosed(), /next$/);
		assert.equal(ran.next, 0);
	});
}

test('runs nothing that follows a chunked request, also if its response is large, empty or a stream', async (t) => {
	const { ran, routes } = counting();
	const { port } = await start(t, routes);
	const ends: Record<string, (text: string) => boolean> = {
		'/large': (text) => text.endsWith(LARGE),
		'/none': (text) => text.endsWith('\r\n\r\n'),
		'/events': (text) => text.endsWith('\r\n0\r\n\r\n'),
	};
	const peers = Object.entries(ends).map(([path, isWhole]) => {
		const peer = new RawClient(t, port);
		peer.send(to(path));
		return { peer, isWhole };
	});
	for (const { peer, isWhole } of peers) {
		await peer.until(() => isWhole(peer.text));
		assert.match(peer.text, /^HTTP\/1\.1 20\d .*\r\n(.*\r\n)*connection: close\r\n/i);
		peer.send(NEXT);
	}
	// The server answers later connections only after it has read this one.
	const honest = new RawClient(t, port);
	for (let count = 1; count <= 5; count++) {
		honest.send(NEXT);
		await honest.until(() => honest.text.split('\r\n\r\nnext').length === count + 1);
	}
	assert.equal(ran.next, 5);
	for (const { peer } of peers) assert.doesNotMatch(peer.text, /next/);
});

test('does not run a chunked request with trailers in the same packet', async (t) => {
	const { ran, routes } = counting();
	const { port } = await start(t, routes);
	for (const request of [`${HEAD}6\r\n"body"\r\n0\r\nX-Sum: 1\r\n\r\n`, to('/stop', '0\r\nX-Sum: 1\r\n\r\n')]) {
		const peer = new RawClient(t, port);
		peer.send(request);
		assert.match(await peer.untilClosed(), /^HTTP\/1\.1 505 /);
	}
	assert.deepEqual([ran.echo, ran.stop], [0, 0]);
});

test('rejects a chunked body soon if a chunk extension makes its end look like data', async (t) => {
	const { ran, routes } = counting();
	const { port } = await start(t, routes, { limits: { chunkedEndTimeoutMs: 50 } });
	const peer = new RawClient(t, port);
	peer.send(`${HEAD}6;a=b\r\n"body"\r\n0\r\n\r\n`);
	const text = await peer.untilClosed();
	assert.match(text, /^HTTP\/1\.1 400 /);
	assert.match(text, /chunk extensions/);
	assert.equal(ran.echo, 0);
});

test('takes data that looks like the end of a body as data if more follows', async (t) => {
	const { routes } = counting();
	const { port } = await start(t, routes, { limits: { chunkedEndTimeoutMs: 5_000 } });
	const peer = new RawClient(t, port);
	const text = '[\r\n0\r\n\r\n';
	peer.send(`${HEAD}${text.length.toString(16)}\r\n${text}\r\n`);
	await new Promise((resolve) => setImmediate(resolve));
	peer.send('4\r\n,1 ]\r\n0\r\n\r\n');
	assert.ok((await peer.untilClosed()).endsWith('{"body":[0,1]}'));
});

test('closes connections whose bodies have too many small chunks, and runs nothing that follows them', async (t) => {
	const { ran, routes } = counting();
	const { url, port } = await start(t, routes, { limits: { lingeringCloseMs: 60_000 } });
	const small = '1\r\n1\r\n'.repeat(60_000);
	const requests = [HEAD, to('/stop', ''), to('/large', '')].map((head) => `${head}${small}0\r\n\r\n${NEXT}`);
	const answers = await Promise.all(
		[...requests, ...requests, ...requests].map((text) => {
			const peer = new RawClient(t, port);
			peer.send(text);
			return peer.untilClosed();
		}),
	);
	assert.deepEqual(new Set(answers), new Set(['']));
	assert.equal(ran.echo, 0);
	assert.equal(ran.next, 0);
	assert.equal((await fetch(`${url}/next`)).status, 200);
});

test('closes a connection with too many small chunks while its handler reads, or its response waits for the end', async (t) => {
	const { ran, routes } = counting();
	let outcome = '';
	const reading: Route = {
		method: 'POST',
		path: '/reading',
		async handle(request) {
			outcome = 'reading';
			await request.json().catch(() => {
				outcome = 'ended';
			});
			return { status: 200, body: 'read' };
		},
	};
	const { port } = await start(t, [...routes, reading], { limits: { lingeringCloseMs: 60_000 } });
	const small = `${'1\r\n1\r\n'.repeat(60_000)}0\r\n\r\n${NEXT}`;
	const waiting = new RawClient(t, port);
	waiting.send(to('/stop', ''));
	await eventually(() => ran.stop === 1, 'the response waits');
	waiting.send(small);
	assert.equal(await waiting.untilClosed(), '');
	const read = new RawClient(t, port);
	read.send(HEAD.replace('/echo', '/reading'));
	await eventually(() => outcome === 'reading', 'the handler reads');
	read.send(small);
	assert.equal(await read.untilClosed(), '');
	await eventually(() => outcome === 'ended', 'the handler learns that the body does not arrive');
	assert.equal(ran.next, 0);
});

test('a body may have many chunks that are not small', async (t) => {
	const { routes } = counting();
	const { port } = await start(t, routes);
	const peer = new RawClient(t, port);
	peer.send(`${HEAD}1\r\n"\r\n${`28\r\n${'x'.repeat(40)}\r\n`.repeat(25_000)}1\r\n"\r\n0\r\n\r\n`);
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 200 /);
});

test('does not run a chunked request whose client has left', async (t) => {
	const { ran, routes } = counting();
	const { port, server } = await start(t, routes);
	const peer = new RawClient(t, port);
	peer.send(HEAD);
	peer.socket.destroySoon();
	await eventually(() => peer.closed, 'the client has left');
	await server.waitUntilIdle();
	assert.equal(ran.echo, 0);
});

test('keeps the connection of a request with a length', async (t) => {
	const { ran, routes } = counting();
	const { port } = await start(t, routes);
	const peer = new RawClient(t, port);
	for (let count = 1; count <= 3; count++) {
		peer.send('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n"body"');
		await peer.until(() => peer.text.split('{"body":"body"}').length === count + 1);
	}
	assert.equal(peer.closed, false);
	assert.equal(ran.echo, 3);
});
