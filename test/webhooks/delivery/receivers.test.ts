import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { createNetwork } from '../../../src/net/index.ts';
import { httpServer } from '../../net/servers.ts';
import { NOON } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { deliveryHarness, SETTLE_TIMEOUT_MS } from './delivery-harness.ts';

/** The engine and a server that answers like this, with a real network between them. */
async function sceneWith(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
	const network = createNetwork({ allowPrivateNetwork: true, refusedNetworks: [] });
	const server = await httpServer((request, response) => {
		request.resume().once('end', () => answer(request, response));
	});
	t.after(async () => {
		await network[Symbol.asyncDispose]();
		await server[Symbol.asyncDispose]();
	});
	const scene = await deliveryHarness(t, { network });
	const endpoint = await scene.register({ url: `${server.origin}/hook` });
	scene.start();
	const attempt = async (delivery_id: string | undefined) => {
		const where = { delivery_id: delivery_id ?? '' };
		return (await scene.store.list('delivery_attempts', { where, order: 'asc', limit: 1 }))[0];
	};
	return { scene, server, endpoint, attempt };
}

test('reuses connections to an endpoint: one for sequential deliveries, a few for many at once', async (t) => {
	let open = 0;
	let maxOpen = 0;
	const { scene, server, endpoint } = await sceneWith(t, (_, response) => {
		maxOpen = Math.max(maxOpen, ++open);
		response.on('finish', () => open--);
		response.writeHead(200).end('thanks');
	});
	const delivered = (count: number) =>
		until(
			`${count} are delivered`,
			async () => {
				const all = await scene.deliveries(endpoint);
				for (const { error } of all) assert.equal(error, null);
				return all.filter(({ status }) => status === 'delivered').length === count;
			},
			SETTLE_TIMEOUT_MS,
		);
	await scene.emit(Array(40).fill('conv_a'));
	await delivered(40);
	assert.equal(server.connections, 1);
	await scene.emit(Array.from({ length: 200 }, (_, at) => `conv_${at}`));
	await delivered(240);
	assert.ok(maxOpen <= 10, `${maxOpen} requests at a time`);
	// One attempt may start before the connection of the one before is free again.
	assert.ok(server.connections <= 20, `${server.connections} connections`);
});

test('a connection that the endpoint closed meanwhile costs no attempt', async (t) => {
	const { scene, server, endpoint } = await sceneWith(t, (_, response) =>
		response.writeHead(204, { connection: 'close' }).end(),
	);
	await scene.emit(Array(10).fill('conv_a'));
	const all = await scene.untilStatus(endpoint, 'delivered', 10);
	assert.ok(all.every(({ attempts }) => attempts === 1));
	assert.equal(server.connections, 10);
});

test('counts a response of many megabytes as delivered without reading all of it', async (t) => {
	const chunk = Buffer.alloc(64 * 1024, 'x');
	let written = 0;
	let closed = 0;
	const { scene, endpoint, attempt } = await sceneWith(t, (_, response) => {
		response.on('close', () => closed++);
		response.writeHead(200);
		const more = () => {
			while (written < 1 << 30 && !response.destroyed) {
				written += chunk.length;
				if (!response.write(chunk)) return void response.once('drain', more);
			}
		};
		more();
	});
	await scene.emit(['conv_a', 'conv_a', 'conv_a']);
	const all = await scene.untilStatus(endpoint, 'delivered', 3);
	const first = await attempt(all[0]?.id);
	assert.deepEqual([first?.status_code, first?.error, first?.answer], [200, null, 'x'.repeat(2_048)]);
	await until('the connections are closed', () => closed === 3);
	assert.ok(written < 200 << 20, `${written} bytes were written`);
});

test('gives up a response that never ends after five seconds and counts it as failed', async (t) => {
	let gone = 0;
	const { scene, endpoint, attempt } = await sceneWith(t, (_, response) => {
		response.writeHead(200).write('wait');
		const dribble = setInterval(() => response.write('.'), 100);
		response.on('close', () => {
			clearInterval(dribble);
			gone++;
		});
	});
	await scene.emit(['conv_a']);
	const [delivery] = await until('the attempt has ended', async () => {
		const all = await scene.deliveries(endpoint);
		return all[0]?.attempts === 1 && all;
	});
	assert.deepEqual([delivery?.status, delivery?.error], ['pending', 'No response within 5 seconds.']);
	const made = await attempt(delivery?.id);
	assert.ok(made && made.duration_ms >= 4_990 && made.duration_ms < 15_000, `${made?.duration_ms} ms`);
	await until('the connection is closed', () => gone === 1);
});

test('retries after the delay that the receiver asks for in Retry-After', async (t) => {
	const asked = ['8', new Date(NOON + 9_000).toUTCString(), '3600', '1'];
	let count = 0;
	const { scene, endpoint } = await sceneWith(t, (_, response) => {
		response.writeHead(429, { 'retry-after': asked[count++] }).end();
	});
	await scene.emit(['conv_0']);
	for (const [at, delay] of [8, 9, 10, 5].entries()) {
		// As if it had moved: what fails again and again is tried less often.
		scene.deliverer.wake(endpoint.id, { resetHealth: true });
		if (at > 0) await scene.emit([`conv_${at}`]);
		const all = await until('it has failed', async () => {
			const deliveries = await scene.deliveries(endpoint);
			return deliveries[at]?.attempts === 1 && deliveries;
		});
		assert.equal(all[at]?.due_at, NOON + delay * 1_000, `asked for ${asked[at]}`);
	}
});
