import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { sleep } from '../../src/base/index.ts';
import { httpServer } from '../net/servers.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { assertSigned, type PublicEvent, type Received } from '../webhooks/receiver.ts';

/** How often the server is killed. `npm run test:long` kills it fifty times. */
const CUTS = Number(process.env.KILLS ?? 12);
/** Changes that are asked for between two kills. */
const CHANGES = 40;
const EVENTS = CUTS * CHANGES;
const CONVERSATIONS = 40;
/** Milliseconds of a life that go on at most after all changes were asked for. */
const LONGEST_MS = 200;

/** What an endpoint got, by event. */
class Endpoint {
	readonly received = new Map<string, Received[]>();
	/** Requests that came, repeats included. */
	count = 0;
	secret = '';
	id = '';

	constructor(
		readonly path: string,
		/** What it answers, and after how many milliseconds. */
		readonly answer: (first: boolean) => { status: number; ms: number },
	) {}

	take(headers: IncomingHttpHeaders, raw: Buffer): { status: number; ms: number } {
		const event = JSON.parse(raw.toString()) as PublicEvent;
		const before = this.received.get(event.id) ?? [];
		before.push({ headers: headers as Record<string, string>, raw, event });
		this.received.set(event.id, before);
		this.count += 1;
		return this.answer(before.length === 1);
	}
}

test('a server killed repeatedly while it delivers events loses none of them', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'parley-webhooks-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	const endpoints = [
		new Endpoint('/fast', () => ({ status: 204, ms: 0 })),
		new Endpoint('/slow', () => ({ status: 200, ms: 25 })),
		new Endpoint('/flaky', (first) => ({ status: first && randomInt(10) === 0 ? 503 : 202, ms: 0 })),
	];
	await using receiver = await httpServer(async (request, response) => {
		const chunks: Buffer[] = [];
		// A kill may cut a request short: then nothing was received.
		try {
			for await (const chunk of request) chunks.push(chunk as Buffer);
		} catch {
			return;
		}
		const endpoint = endpoints.find(({ path }) => path === request.url);
		assert.ok(endpoint);
		const { status, ms } = endpoint.take(request.headers, Buffer.concat(chunks));
		if (ms > 0) await sleep(ms);
		response.writeHead(status).end();
	});

	const acknowledged = new Set<number>();
	let key: string | undefined;
	let conversations: string[] = [];
	let asked = 0;
	const start = () =>
		startServer({
			dataDir: folder,
			...(key === undefined ? {} : { key }),
			env: { PARLEY_ALLOW_PRIVATE_NETWORK: '1' },
		});
	for (let cut = 0; cut < CUTS; cut++) {
		await using server = await start();
		key = server.key;
		if (cut === 0) conversations = await prepare(server, endpoints, receiver.origin);
		const before = endpoints.reduce((sum, { count }) => sum + count, 0);
		const changes = Promise.all(
			Array.from({ length: CHANGES }, () => change(server, conversations, asked++, acknowledged)),
		);
		await until('something is delivered', () => endpoints.reduce((sum, { count }) => sum + count, 0) > before);
		await sleep(randomInt(0, LONGEST_MS));
		assert.equal((await server.kill()).signal, 'SIGKILL', server.output());
		await changes;
	}

	await using server = await start();
	while (acknowledged.size < EVENTS) await change(server, conversations, asked++, acknowledged);
	const log = await events(server);
	const left = async () => {
		const pages = endpoints.map(({ id }) => `/api/v1/webhooks/${id}/deliveries?status=pending&limit=1`);
		const answers = await Promise.all(pages.map((path) => server.call('GET', path)));
		return answers.reduce((sum, { body }) => sum + body.data.length, 0);
	};
	await until('nothing waits any more', async () => (await left()) === 0, 90_000);

	const told = new Set(log.map(({ data }) => data.metadata?.serial));
	for (const serial of acknowledged) assert.ok(told.has(String(serial)), `change ${serial} is in the log`);
	assert.ok(log.length >= EVENTS);
	let repeats = 0;
	for (const endpoint of endpoints) {
		const { path, received, secret, id } = endpoint;
		assert.equal(received.size, log.length, `${path} got what is in the log, and nothing else`);
		for (const event of log) {
			const requests = received.get(event.id) ?? [];
			assert.ok(requests.length > 0, `${path} never got ${event.id}`);
			for (const request of requests) {
				assert.equal(request.raw.toString(), JSON.stringify(event), 'every time the same bytes');
				assertSigned(request, secret);
			}
			repeats += requests.length - 1;
		}
		const deliveries = await all(server, `/api/v1/webhooks/${id}/deliveries`);
		assert.equal(deliveries.length, log.length);
		assert.ok(deliveries.every(({ status }) => status === 'delivered'));
	}
	t.diagnostic(`${log.length} events, ${repeats} repeated requests at ${endpoints.length} endpoints`);
	assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

/** Creates the conversations and then registers the endpoints, which get no event about the creation. */
async function prepare(server: ServerProcess, endpoints: Endpoint[], origin: string): Promise<string[]> {
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Scene' });
	const deployment = await server.call('POST', '/api/v1/deployments', {
		assistant_id: assistant.body.id,
		rate_limit: { messages_per_minute: 1_000 },
	});
	const conversations = await Promise.all(
		Array.from({ length: CONVERSATIONS }, async () => {
			const body = { deployment_id: deployment.body.id, content: 'Hello?' };
			const reply = await server.call('POST', '/api/v1/messages', body);
			assert.equal(reply.status, 201, JSON.stringify(reply.body));
			return reply.body.conversation_id as string;
		}),
	);
	for (const endpoint of endpoints) {
		const url = origin + endpoint.path;
		const { status, body } = await server.call('POST', '/api/v1/webhooks', { url, events: ['conversation.updated'] });
		assert.equal(status, 201, JSON.stringify(body));
		endpoint.id = body.id;
		endpoint.secret = body.signing_secret;
	}
	return conversations;
}

/** Changes a conversation, which is one event. */
async function change(
	server: ServerProcess,
	conversations: string[],
	serial: number,
	acknowledged: Set<number>,
): Promise<void> {
	const path = `/api/v1/conversations/${conversations[serial % conversations.length]}`;
	try {
		const { status, body } = await server.call('PATCH', path, { metadata: { serial: String(serial) } });
		assert.equal(status, 200, JSON.stringify(body));
		acknowledged.add(serial);
	} catch (error) {
		// No answer came: the server was killed.
		if (error instanceof assert.AssertionError) throw error;
	}
}

/** The log of events, from its beginning. */
async function events(server: ServerProcess): Promise<PublicEvent[]> {
	const found: PublicEvent[] = [];
	for (let cursor = ''; ; ) {
		const path = `/api/v1/events?types=conversation.updated&limit=100${cursor && `&cursor=${cursor}`}`;
		const { status, body } = await server.call('GET', path);
		assert.equal(status, 200, JSON.stringify(body));
		found.push(...body.data);
		cursor = body.next_cursor;
		if (body.data.length < 100) return found;
	}
}

async function all(server: ServerProcess, path: string): Promise<{ status: string }[]> {
	const items: { status: string }[] = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const { body } = await server.call('GET', `${path}?limit=100${cursor && `&cursor=${cursor}`}`);
		items.push(...body.data);
		cursor = body.next_cursor;
	}
	return items;
}
