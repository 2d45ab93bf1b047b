import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBuffer } from '../../src/http/body-buffer.ts';
import { DiscardThrottle } from '../../src/http/discard-throttle.ts';
import type { Route } from '../../src/http/index.ts';
import { eventually, json, RawClient, start } from './harness.ts';

const MIB = 1024 * 1024;
const echo: Route = {
	method: 'POST',
	path: '/echo',
	handle: async (request) => json(200, await request.json()),
};
const ignore: Route = { method: 'POST', path: '/ignore', handle: () => ({ status: 403, body: 'no' }) };
/** A busy machine may take long. */
const limits = { lingeringCloseMs: 60_000 };

test('clients that send large bodies at once get their refusals', async (t) => {
	const { url } = await start(t, [echo], { limits });
	const body = Buffer.alloc(8 * MIB, 'x');
	const headers = { 'content-type': 'application/json' };
	const statuses = await Promise.all(
		Array.from({ length: 4 }, async () => {
			const response = await fetch(`${url}/echo`, { method: 'POST', headers, body });
			await response.text();
			return response.status;
		}),
	);
	assert.deepEqual(statuses, [413, 413, 413, 413]);
});

test('bodies are discarded at a limited rate, however fast their clients send', async (t) => {
	const throttle = new DiscardThrottle();
	const begun = performance.now();
	const pieceBytes = MIB / 2;
	let bytes = 0;
	const bodies = Array.from({ length: 3 }, () => {
		// Each client has always sent more.
		const arrive = (): void => {
			bytes += pieceBytes;
			throttle.count(body, pieceBytes);
			if (!body.isPaused) setImmediate(arrive);
		};
		const body: BodyBuffer = new BodyBuffer({ pause() {}, resume: () => void setImmediate(arrive) }, 60_000);
		t.after(() => body.stopTimer());
		body.discard();
		arrive();
		return body;
	});
	await eventually(() => bytes >= 32 * MIB, '32 MiB are discarded');
	for (const body of bodies) throttle.remove(body);
	// At 128 MiB/s, less the first MiB and a piece of each body.
	const elapsed = performance.now() - begun;
	assert.ok(elapsed > 200, `32 MiB were discarded in ${elapsed} ms`);
});

test('a connection serves the request that follows a large body that nothing reads', async (t) => {
	const { port } = await start(t, [echo, ignore], { limits });
	const peer = new RawClient(t, port);
	peer.send(`POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: ${16 * MIB}\r\n\r\n`);
	peer.send('x'.repeat(16 * MIB));
	const head = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n';
	peer.send(`${head}Content-Length: 4\r\n\r\n"ok"`);
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 403 .*HTTP\/1\.1 200 .*"ok"/s);
});

test('paused bodies are read on in turn, except those that are removed', async (t) => {
	const throttle = new DiscardThrottle();
	const resumed: number[] = [];
	const bodies = Array.from({ length: 12 }, (_, at) => {
		const body = new BodyBuffer({ pause() {}, resume: () => void resumed.push(at) }, 60_000);
		t.after(() => body.stopTimer());
		body.discard();
		return body;
	});
	for (const body of bodies) throttle.count(body, 4 * MIB);
	assert.ok(bodies.every(({ isPaused }) => isPaused));
	throttle.remove(bodies[3] as BodyBuffer);
	await eventually(() => resumed.length === 11, 'the others are read on');
	assert.deepEqual(resumed, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
	assert.ok((bodies[3] as BodyBuffer).isPaused);
});

test('a body that is discarded already is not read on before its turn', (t) => {
	const throttle = new DiscardThrottle();
	const body = new BodyBuffer({ pause() {}, resume() {} }, 60_000);
	t.after(() => body.stopTimer());
	body.discard();
	throttle.count(body, 64 * MIB);
	// The response is chosen.
	body.discard(() => {});
	assert.ok(body.isPaused);
});
