import type { HttpResponse } from 'uWebSockets.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiscardedBody, DiscardThrottle } from '../../src/http/discard-throttle.ts';
import { IncomingBody } from '../../src/http/incoming-body.ts';
import type { Route } from '../../src/http/index.ts';
import { DEFAULT_LIMITS } from '../../src/http/limits.ts';
import { SmallChunkLimit } from '../../src/http/small-chunk-limit.ts';
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

/** A body that records its name when it is resumed. */
function bodyOf(clientAddress: string, name: string, resumed: string[]): DiscardedBody & { isPaused: boolean } {
	return {
		clientAddress,
		isPaused: false,
		pause() {
			this.isPaused = true;
		},
		resume() {
			this.isPaused = false;
			resumed.push(name);
		},
	};
}

test('clients that send large bodies at once get their refusals, and the throttle sees what they send', async (t) => {
	const onDiscarded = t.mock.method(DiscardThrottle.prototype, 'onDiscarded');
	const { url } = await start(t, [echo], { limits });
	const body = Buffer.alloc(16 * MIB, 'x');
	const headers = { 'content-type': 'application/json' };
	const statuses = await Promise.all(
		Array.from({ length: 4 }, async () => {
			const response = await fetch(`${url}/echo`, { method: 'POST', headers, body });
			await response.text();
			return response.status;
		}),
	);
	assert.deepEqual(statuses, [413, 413, 413, 413]);
	const sizes = onDiscarded.mock.calls.map(({ arguments: [, bytes] }) => bytes);
	assert.equal(
		sizes.reduce((sum, bytes) => sum + bytes, 0),
		64 * MIB,
	);
});

test('bodies are discarded at a limited rate, however fast their clients send', async () => {
	const throttle = new DiscardThrottle();
	const begun = performance.now();
	const pieceBytes = MIB / 2;
	let bytes = 0;
	const isDone = () => bytes >= 32 * MIB;
	for (let at = 0; at < 3; at++) {
		let isPaused = false;
		// Each client has always sent more.
		const arrive = (): void => {
			if (isDone()) return;
			bytes += pieceBytes;
			throttle.onDiscarded(body, pieceBytes, false);
			if (!isPaused) setImmediate(arrive);
		};
		const body: DiscardedBody = {
			clientAddress: '127.0.0.1',
			pause: () => {
				isPaused = true;
			},
			resume: () => {
				isPaused = false;
				setImmediate(arrive);
			},
		};
		arrive();
	}
	await eventually(isDone, '32 MiB are discarded');
	const elapsed = performance.now() - begun;
	assert.ok(elapsed > 150, `32 MiB were discarded in ${elapsed} ms`);
});

test('tiny deliveries are limited by their number', () => {
	const throttle = new DiscardThrottle();
	const body = bodyOf('127.0.0.1', 'tiny', []);
	for (let at = 0; at < 1_000; at++) throttle.onDiscarded(body, 1, false);
	assert.ok(body.isPaused);
});

test('a body that is discarded alone is not paused in its first megabyte, nor by its last bytes', () => {
	const throttle = new DiscardThrottle();
	const body = bodyOf('127.0.0.1', 'alone', []);
	throttle.onDiscarded(body, MIB - 1, false);
	throttle.onDiscarded(body, MIB, true);
	assert.ok(!body.isPaused);
});

test('paused bodies are resumed in turn, one of each client, except those that are removed', async () => {
	const throttle = new DiscardThrottle();
	const resumed: string[] = [];
	throttle.onDiscarded(bodyOf('127.0.0.9', 'first', []), MIB, true);
	const pause = (name: string, address: string) => {
		const body = bodyOf(address, name, resumed);
		throttle.onDiscarded(body, 1, false);
		assert.ok(body.isPaused, name);
		return body;
	};
	for (const name of ['a1', 'a2', 'a3', 'a4']) pause(name, '127.0.0.1');
	const removed = pause('b1', '127.0.0.2');
	pause('b2', '127.0.0.2');
	pause('c1', '127.0.0.3');
	throttle.remove(removed);
	await eventually(() => resumed.length === 6, 'the others are resumed');
	assert.deepEqual(resumed, ['a1', 'b2', 'c1', 'a2', 'a3', 'a4']);
	assert.ok(removed.isPaused);
});

test('bodies that end soon after their turn do not use up a period each', async () => {
	const throttle = new DiscardThrottle();
	throttle.onDiscarded(bodyOf('127.0.0.9', 'first', []), MIB, true);
	let ended = 0;
	for (let at = 0; at < 20_000; at++) {
		const body = bodyOf('127.0.0.1', 'small', []);
		body.resume = () => {
			throttle.onDiscarded(body, 1, true);
			ended++;
		};
		throttle.onDiscarded(body, 1, false);
	}
	// It takes less than a second. With a period for each body it would take 160.
	await eventually(() => ended === 20_000, 'all have ended');
});

test('bodies have their turns although more arrives than a pause can prevent', async (t) => {
	const throttle = new DiscardThrottle();
	const resumed: string[] = [];
	const arrive = () => throttle.onDiscarded(bodyOf('127.0.0.1', 'large', []), 1_000 * MIB, true);
	arrive();
	const timer = setInterval(arrive, 1);
	t.after(() => clearInterval(timer));
	throttle.onDiscarded(bodyOf('127.0.0.2', 'paused', resumed), 1, false);
	await eventually(() => resumed.length === 1, 'the body is resumed');
});

test('one body is resumed in an iteration of the event loop, also if their clients send nothing more', async (t) => {
	const throttle = new DiscardThrottle();
	throttle.onDiscarded(bodyOf('127.0.0.9', 'first', []), MIB, true);
	let resumed = 0;
	for (let at = 0; at < 200; at++) {
		const body = bodyOf('127.0.0.1', 'silent', []);
		body.resume = () => {
			resumed++;
			// As long as other work: many periods begin meanwhile.
			const until = performance.now() + 1;
			while (performance.now() < until);
		};
		throttle.onDiscarded(body, 1, false);
	}
	let most = 0;
	let before = 0;
	let isOver = false;
	const count = (): void => {
		most = Math.max(most, resumed - before);
		before = resumed;
		if (!isOver) setImmediate(count);
	};
	t.after(() => {
		isOver = true;
	});
	count();
	await eventually(() => resumed === 200, 'all are resumed');
	assert.equal(most, 1);
});

test('a body that is discarded is paused at its connection, and resumed', async (t) => {
	const calls: string[] = [];
	let push: (bytes: ArrayBuffer, last: boolean) => void = () => {};
	const response = {
		pause: () => calls.push('pause'),
		resume: () => calls.push('resume'),
		onData: (handler: typeof push) => {
			push = handler;
		},
	};
	const body = new IncomingBody(response as unknown as HttpResponse, {
		...{ announcedBytes: 100 * MIB, limits: DEFAULT_LIMITS, discardThrottle: new DiscardThrottle() },
		smallChunkLimit: new SmallChunkLimit(),
		...{
			clientAddress: () => '127.0.0.1',
			isReleased: () => false,
			onError: assert.fail,
			onTooManySmallChunks: assert.fail,
		},
	});
	t.after(() => body.end());
	body.buffer.discard();
	push(new ArrayBuffer(MIB), false);
	assert.deepEqual(calls, ['pause']);
	await eventually(() => calls.length === 2, 'it is resumed');
	assert.deepEqual(calls, ['pause', 'resume']);
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
