import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test, { after } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { httpServer, tcpServer } from '../net/servers.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { addWorkspace, eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';

const app = await startTestApp({ settings: { allow_private_network: true } });
after(() => app[Symbol.asyncDispose]());

const WEBHOOKS = '/api/v1/webhooks';

/** A request to an endpoint. */
interface Received {
	method: string | undefined;
	headers: Record<string, string>;
	body: string;
}

/** A receiver, and the requests that it got. */
async function endpoint(answer: (response: ServerResponse) => void = (response) => void response.writeHead(204).end()) {
	const received: Received[] = [];
	const server = await httpServer(async (request: IncomingMessage, response) => {
		let body = '';
		for await (const chunk of request.setEncoding('utf8')) body += chunk;
		received.push({ method: request.method, headers: request.headers as Record<string, string>, body });
		answer(response);
	});
	return {
		url: `${server.origin}/hook`,
		received,
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
}

async function register(on: TestApp, url: string, headers?: Record<string, string>) {
	const { status, body } = await on.call('POST', WEBHOOKS, { url, events: ['conversation.closed'] }, headers);
	assert.equal(status, 201, JSON.stringify(body));
	return { ...body, path: `${WEBHOOKS}/${body.id}` };
}

/** The signature as a receiver computes it. */
const plainSignature = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex');

test('a ping arrives with valid signatures of both kinds, and the response describes it', async () => {
	await using receiver = await endpoint((response) => void response.writeHead(202).end('thanks'));
	const { id, path, signing_secret } = await register(app, receiver.url);
	const before = Date.now();
	const { status, body } = await app.call('POST', `${path}/test`);
	assert.equal(status, 200);
	assert.ok(Number.isInteger(body.duration_ms) && body.duration_ms >= 0);
	assert.deepEqual(body, { delivered: true, status_code: 202, duration_ms: body.duration_ms, error: null });

	const [ping, ...more] = receiver.received as [Received];
	assert.deepEqual([ping.method, more.length], ['POST', 0]);
	const { headers } = ping;
	assert.equal(headers['content-type'], 'application/json');
	assert.equal(headers['x-service-signature'], plainSignature(signing_secret, ping.body));
	assert.equal(headers['x-service-event'], 'ping');
	assert.match(headers['x-service-timestamp'] as string, /^\d{10}$/);
	assert.ok(Math.abs(Number(headers['x-service-timestamp']) * 1000 - before) < 60_000);
	const verified = new Webhook(signing_secret).verify(ping.body, headers) as Record<string, unknown>;
	assert.deepEqual(Object.keys(verified), ['id', 'type', 'created_at', 'data']);
	assert.match(verified.id as string, /^evt_[0-9a-hjkmnp-tv-z]{32}$/);
	assert.equal(headers['webhook-id'], verified.id);
	assert.deepEqual([verified.type, verified.data], ['ping', { webhook_id: id }]);
	assert.match(verified.created_at as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("a ping is in no log, whatever the endpoint's types are", async () => {
	await using receiver = await endpoint();
	const { path } = await register(app, receiver.url);
	await using store = await openStoreDirectly(app);
	const workspace = await firstWorkspace(store);
	const before = (await eventsSoFar(store, workspace)).length;
	assert.equal((await app.call('POST', `${path}/test`)).body.delivered, true);
	assert.equal((await eventsSoFar(store, workspace)).length, before);
});

test('after rotations all secrets sign for a day, then only the newest', async () => {
	let now = Date.now();
	const clock: Clock = { now: () => now };
	await using own = await startTestApp({ settings: { allow_private_network: true }, overrides: { clock } });
	await using receiver = await endpoint();
	const { path, signing_secret } = await register(own, receiver.url);
	const sent = async (): Promise<Received> => {
		assert.equal((await own.call('POST', `${path}/test`)).body.delivered, true);
		return receiver.received.at(-1) as Received;
	};
	const valid = ({ headers, body }: Received, secret: string) => {
		const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
		const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
		const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
		return signatures.split(' ').indexOf(`v1,${expected}`);
	};

	const { new_secret } = (await own.call('POST', `${path}/rotate-secret`)).body;
	const during = await sent();
	assert.deepEqual([valid(during, new_secret), valid(during, signing_secret)], [0, 1]);
	new Webhook(new_secret).verify(during.body, during.headers);
	new Webhook(signing_secret).verify(during.body, during.headers);
	assert.equal(during.headers['x-service-signature'], plainSignature(new_secret, during.body));

	const secret = `whsec_${Buffer.alloc(40, 7).toString('base64')}`;
	for (let time = 0; time < 2; time++) await own.call('PATCH', path, { secret });
	const patched = await sent();
	assert.deepEqual([valid(patched, secret), valid(patched, new_secret), valid(patched, signing_secret)], [0, 1, 2]);

	now += 24 * 3_600_000;
	const later = await sent();
	assert.deepEqual([valid(later, secret), valid(later, new_secret), valid(later, signing_secret)], [0, -1, -1]);
	assert.equal(
		later.headers['x-service-timestamp'],
		String(Math.floor(now / 1000)),
		'the time is that of this attempt',
	);
	assert.equal(later.headers['webhook-signature']?.split(' ').length, 1);
});

test('describes the failure of a ping in a sentence, with status 200', async () => {
	await using failing = await endpoint((response) => void response.writeHead(500).end('oh'));
	await using elsewhere = await endpoint((response) => void response.writeHead(301, { location: '/other' }).end());
	await using closing = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
	const failures: Array<[url: string, status_code: number | null, error: RegExp]> = [
		[failing.url, 500, /^The endpoint answered with status 500\.$/],
		[elsewhere.url, 301, /^The endpoint answered with status 301, and redirects are not followed\.$/],
		[closing.origin, null, /^The connection to 127\.0\.0\.1:\d+ broke off before there was a response\.$/],
	];
	for (const [url, status_code, error] of failures) {
		const { path } = await register(app, url);
		const { status, body } = await app.call('POST', `${path}/test`);
		assert.deepEqual([status, body.delivered, body.status_code], [200, false, status_code], url);
		assert.match(body.error, error, url);
	}
	assert.equal(elsewhere.received.length, 1);
});

test('waits five seconds for a silent endpoint and closes its connection', async () => {
	let closed: () => void;
	const gone = new Promise<void>((resolve) => {
		closed = resolve;
	});
	await using silent = await tcpServer((socket) => socket.resume().once('close', () => closed()));
	const { path } = await register(app, silent.origin);
	const { status, body } = await app.call('POST', `${path}/test`);
	assert.deepEqual(
		[status, body.delivered, body.status_code, body.error],
		[200, false, null, 'No response within 5 seconds.'],
	);
	assert.ok(body.duration_ms >= 4_990, `after ${body.duration_ms} ms`);
	await gone;
});

test('does not connect to a name that now resolves into the private network', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	const network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	await using own = await startTestApp({ overrides: { network } });
	const { path } = await register(own, `https://hooks.example:${bird.port}/`);
	const { status, body } = await own.call('POST', `${path}/test`);
	assert.deepEqual([status, body.delivered, body.status_code], [200, false, null]);
	assert.match(body.error, /^The host hooks\.example is not on the public internet/);
	assert.equal(bird.connections, 0);
});

test('a ping does not show which names exist in the private network', async () => {
	const network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => {
			if (name === 'jenkins.corp.example') return [{ address: '10.1.2.3', family: 4 }];
			throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
		},
	});
	await using own = await startTestApp({ overrides: { network } });
	const errorFor = async (name: string) => {
		const { path } = await register(own, `https://${name}.corp.example/`);
		const { status, body } = await own.call('POST', `${path}/test`);
		return { status, ...body, duration_ms: 0, error: body.error.replaceAll(name, 'NAME') };
	};
	assert.deepEqual(await errorFor('jenkins'), await errorFor('gitlab'));
});

test('slow pings of one workspace do not delay other workspaces', async () => {
	const held: ServerResponse[] = [];
	await using shared = await httpServer((request, response) => {
		if (request.url === '/fast') response.end('here');
		else held.push(response);
	});
	await using store = await openStoreDirectly(app);
	const other = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const { path: mine } = await register(app, `${shared.origin}/fast`);
	const { path: theirs } = await register(app, `${shared.origin}/slow`, other);
	const pingTheirs = () => app.call('POST', `${theirs}/test`, undefined, other);
	const slow = Array.from({ length: 5 }, pingTheirs);
	await until('five pings are in flight', () => held.length === 5);
	const { status, body, headers } = await pingTheirs();
	assert.deepEqual([status, body.error.code, body.error.retry_after], [429, 'rate_limit_exceeded', 5]);
	assert.equal(headers.get('retry-after'), '5');
	assert.equal((await app.call('POST', `${mine}/test`)).body.delivered, true);
	assert.equal(held.length, 5);
	for (const response of held.splice(0)) response.end();
	for (const { body } of await Promise.all(slow)) assert.equal(body.delivered, true);
	const again = pingTheirs();
	await until('there is a free place again', () => held.length === 1);
	held[0]?.end();
	assert.equal((await again).body.delivered, true);
});

test('pings a disabled endpoint before it is revived', async () => {
	await using receiver = await endpoint();
	const { path } = await register(app, receiver.url);
	await app.call('PATCH', path, { status: 'disabled' });
	assert.equal((await app.call('POST', `${path}/test`)).body.delivered, true);
	assert.equal((await app.call('GET', path)).body.status, 'disabled');
});

test('sends a ping once under an Idempotency-Key, and again without one', async () => {
	await using receiver = await endpoint();
	const { path } = await register(app, receiver.url);
	const send = (headers?: Record<string, string>) => app.call('POST', `${path}/test`, undefined, headers);
	const key = { 'idempotency-key': 'ping-1' };
	const [first, second] = await Promise.all([send(key), send(key)]);
	const third = await send(key);
	assert.deepEqual(second.body, first.body);
	assert.deepEqual([third.body, third.headers.get('idempotent-replayed')], [first.body, 'true']);
	assert.equal(receiver.received.length, 1);
	await send();
	await send();
	const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
	assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
});
