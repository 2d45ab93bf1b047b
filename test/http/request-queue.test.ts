import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type AbortListener, deferred } from '../../src/base/index.ts';
import type { Route } from '../../src/http/index.ts';
import { RequestQueue } from '../../src/http/request-queue.ts';
import { compute } from '../support/compute.ts';
import { RawClient, start } from './harness.ts';

/** Longer than requests of one turn may take before others wait (ms). */
const SLOW_MS = 0.5;
const MANY = 300;

const nextTurn = () => new Promise(setImmediate);

/** A request as the queue sees it. */
function requestOf(clientAddress: string) {
	let listener: AbortListener | null = null;
	return {
		clientAddress,
		announcedBytes: 0,
		addAbortListener(added: AbortListener) {
			listener = added;
		},
		removeAbortListener() {
			listener = null;
		},
		/** Its client leaves, or its deadline passes. */
		abort: (reason?: unknown) => listener?.onRequestAbort(reason),
	};
}

suite('the queue of requests', () => {
	const small = { announcedBytes: 0 };
	const large = { announcedBytes: 64 * 1024 + 1 };

	test('the first requests of a turn start at once, and others wait when these have taken too long', async () => {
		const queue = new RequestQueue();
		assert.ok(queue.startsAtOnce(small));
		compute(SLOW_MS);
		assert.ok(!queue.startsAtOnce(small));
		const started = queue.wait(requestOf('192.0.2.1'));
		await started;
		await nextTurn();
		assert.ok(queue.startsAtOnce(small), 'a new turn, and none waits');
	});

	test('a request waits while others wait', async () => {
		const queue = new RequestQueue();
		const started = queue.wait(requestOf('192.0.2.1'));
		assert.ok(!queue.startsAtOnce(small));
		await started;
	});

	test('of the requests with large bodies, which memory would hold meanwhile, 32 in each turn do not wait', async () => {
		const queue = new RequestQueue();
		const started = queue.wait(requestOf('192.0.2.1'));
		const many = () => Array.from({ length: 100 }, () => queue.startsAtOnce(large)).filter((starts) => starts).length;
		assert.equal(many(), 32);
		await nextTurn();
		assert.ok(many() >= 32);
		await started;
		await nextTurn();
		assert.ok(queue.startsAtOnce({ announcedBytes: Number.POSITIVE_INFINITY }), 'a chunked body');
		compute(SLOW_MS);
		assert.ok(!queue.startsAtOnce(small), 'they take time of the turn, too');
	});

	test('clients take turns, and the requests of each keep their order', async () => {
		const queue = new RequestQueue();
		const order: string[] = [];
		const send = (address: string, name: string) => queue.wait(requestOf(address)).then(() => order.push(name));
		const all = Array.from({ length: 1_000 }, (_, at) => send('192.0.2.1', `many ${at}`));
		all.push(send('192.0.2.2', 'few 0'), send('192.0.2.2', 'few 1'));
		// Addresses of one IPv6 network are one client.
		all.push(send('2001:db8::1', 'network 0'), send('2001:db8::2', 'network 1'));
		await Promise.all(all);
		assert.deepEqual(order.slice(0, 7), ['many 0', 'few 0', 'network 0', 'many 1', 'few 1', 'network 1', 'many 2']);
		assert.deepEqual(
			order.filter((name) => name.startsWith('many')),
			Array.from({ length: 1_000 }, (_, at) => `many ${at}`),
		);
	});

	test('clients that send the next request when one has started do not keep others from their turn', async () => {
		const queue = new RequestQueue();
		let isOver = false;
		let others = 0;
		const insist = async (address: string) => {
			while (!isOver && others < 10_000) {
				await queue.wait(requestOf(address));
				others++;
			}
		};
		const insisting = Array.from({ length: 20 }, (_, at) => insist(`198.51.100.${at}`));
		await Promise.all(Array.from({ length: 3 }, () => queue.wait(requestOf('192.0.2.1'))));
		isOver = true;
		await Promise.all(insisting);
		assert.ok(others < 100, `${others} of others started before the three of one client`);
	});

	test('a request that is aborted while it waits is forgotten', async () => {
		const queue = new RequestQueue();
		const [left, late] = [requestOf('192.0.2.1'), requestOf('192.0.2.1')];
		const waiting = [queue.wait(left), queue.wait(late)];
		assert.equal(queue.size, 2);
		left.abort();
		late.abort(new Error('Too late.'));
		assert.equal(queue.size, 0);
		await assert.rejects(waiting[0] as Promise<void>, /The client left before its request was started\./);
		await assert.rejects(waiting[1] as Promise<void>, /Too late\./);
		const other = requestOf('192.0.2.1');
		await queue.wait(other);
		other.abort();
		assert.equal(queue.size, 0);
	});
});

suite('requests that arrive at once', () => {
	/** A route whose handler takes the processor, and the clients of the requests that it has handled. */
	function slowRoute() {
		const handled: string[] = [];
		const started = deferred<void>();
		const handle = async (request: { clientAddress: string }) => {
			handled.push(request.clientAddress);
			started.resolve();
			compute(SLOW_MS);
			return { status: 200, body: 'Done.' };
		};
		const route: Route = { method: 'GET', path: '/slow', mayWait: true, handle };
		return { route, handled, started: started.promise };
	}
	const quick: Route = { method: 'GET', path: '/quick', handle: () => ({ status: 200, body: 'Quick.' }) };
	const requestFrom = (address: string) => `GET /slow HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`;

	/** Clients with connections that the server has accepted. */
	async function connect(t: Parameters<typeof start>[0], port: number, count: number): Promise<RawClient[]> {
		const clients = Array.from({ length: count }, () => new RawClient(t, port));
		for (const client of clients) client.send('GET /quick HTTP/1.1\r\nHost: a\r\n\r\n');
		await Promise.all(clients.map((client) => client.until(() => client.text.includes('Quick.'))));
		return clients;
	}

	test('leave turns of the event loop to a request that is running', async (t) => {
		const { route, handled, started } = slowRoute();
		let handledMeanwhile = -1;
		const running: Route = {
			method: 'GET',
			path: '/running',
			mayWait: true,
			handle: async () => {
				await started;
				for (let step = 0; step < 20; step++) await nextTurn();
				handledMeanwhile = handled.length;
				return { status: 200, body: 'Run.' };
			},
		};
		const { port } = await start(t, [quick, route, running]);
		const [first, ...others] = (await connect(t, port, MANY + 1)) as [RawClient, ...RawClient[]];
		first.send('GET /running HTTP/1.1\r\nHost: a\r\n\r\n');
		for (const client of others) client.send(requestFrom('192.0.2.1'));
		await Promise.all(others.map((client) => client.until(() => client.text.includes('Done.'))));
		await first.until(() => first.text.includes('Run.'));
		assert.equal(handled.length, MANY);
		assert.ok(handledMeanwhile < MANY / 2, `${handledMeanwhile} of ${MANY} were handled before 20 turns were over`);
	});

	test('do not delay a request of another client until they are answered', async (t) => {
		const { route, handled } = slowRoute();
		const { port } = await start(t, [quick, route], { trustedProxies: ['127.0.0.1'] });
		const clients = await connect(t, port, MANY + 1);
		for (const client of clients.slice(1)) client.send(requestFrom('192.0.2.1'));
		clients[0]?.send(requestFrom('192.0.2.2'));
		await Promise.all(clients.map((client) => client.until(() => client.text.includes('Done.'))));
		const position = handled.indexOf('192.0.2.2');
		assert.ok(position >= 0 && position < MANY / 2, `it was number ${position + 1} of ${MANY + 1}`);
	});

	test('are not handled when their clients have left while they waited', async (t) => {
		const { route, handled, started } = slowRoute();
		const { port, server } = await start(t, [quick, route], { trustedProxies: ['127.0.0.1'] });
		const clients = await connect(t, port, MANY);
		for (const [at, client] of clients.entries()) client.send(requestFrom(`192.0.2.${at % 2}`));
		await started;
		const [, ...leaving] = clients.slice(0, MANY / 2);
		for (const client of leaving) client.socket.destroy();
		const others = clients.slice(MANY / 2);
		await Promise.all(others.map((client) => client.until(() => client.text.includes('Done.'))));
		await server.waitUntilIdle();
		assert.ok(handled.length < MANY, `${handled.length} were handled`);
	});

	test('are answered while the server drains, those that came before included', async (t) => {
		const { route, handled, started } = slowRoute();
		const { port, server } = await start(t, [quick, route]);
		const clients = await connect(t, port, MANY);
		for (const client of clients) client.send(requestFrom('192.0.2.1'));
		await started;
		server.drain();
		await server.waitUntilIdle();
		await Promise.all(clients.map((client) => client.until(() => /Done\.|shutting down/.test(client.text))));
		const done = clients.filter((client) => client.text.includes('Done.'));
		assert.equal(done.length, handled.length);
	});
});
