import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { httpServer } from '../net/servers.ts';
import type { TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

/** An event as the log shows it and deliveries carry it. */
export interface PublicEvent {
	id: string;
	type: string;
	created_at: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
	data: any;
}

/** One request that a receiver got. */
export interface Received {
	headers: Record<string, string>;
	/** The bytes as they came. */
	raw: Buffer;
	event: PublicEvent;
}

/** What a receiver answers; default: 204. */
export interface ReceiverResponse {
	status: number;
	headers?: Record<string, string>;
	body?: string;
}

/** A receiver that is registered as a webhook endpoint. */
export interface Receiver extends AsyncDisposable {
	id: string;
	/** Of the endpoint in the API. */
	path: string;
	url: string;
	signing_secret: string;
	received: Received[];
	/** What it answers from now on. */
	respond: (received: Received) => ReceiverResponse | Promise<ReceiverResponse>;
	/** Resolves once so many requests have come. */
	waitFor(count: number): Promise<Received[]>;
}

/** Starts a server and registers it for these types. Where the app refuses plain HTTP it is not for it. */
export async function startReceiver(app: TestApp, events: readonly string[] = ['*']): Promise<Receiver> {
	const received: Received[] = [];
	const server = await httpServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const raw = Buffer.concat(chunks);
		const one = { headers: request.headers as Record<string, string>, raw, event: JSON.parse(raw.toString()) };
		received.push(one);
		const { status, headers, body } = await self.respond(one);
		response.writeHead(status, headers).end(body);
	});
	const url = `${server.origin}/hook`;
	const { status, body } = await app.call('POST', '/api/v1/webhooks', { url, events });
	assert.equal(status, 201, JSON.stringify(body));
	const self: Receiver = {
		id: body.id,
		path: `/api/v1/webhooks/${body.id}`,
		url,
		signing_secret: body.signing_secret,
		received,
		respond: () => ({ status: 204 }),
		async waitFor(count) {
			await until(`${count} deliveries have come`, () => received.length >= count);
			return received;
		},
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return self;
}

/** Holds a request against a secret: by the published verifier, and by plain HMAC as any receiver could. */
export function assertSigned({ headers, raw, event }: Received, secret: string): void {
	const text = raw.toString();
	assert.deepEqual(new Webhook(secret).verify(text, headers), event);
	const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
	const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
	const standard = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(raw).digest('base64');
	assert.ok(signatures.split(' ').includes(`v1,${standard}`));
	assert.equal(headers['x-service-signature'], createHmac('sha256', secret).update(raw).digest('hex'));
	assert.deepEqual([id, headers['x-service-event'], headers['x-service-timestamp']], [event.id, event.type, timestamp]);
	assert.equal(headers['content-type'], 'application/json');
	assert.deepEqual(Object.keys(event), ['id', 'type', 'created_at', 'data']);
}

/** The events of the log after a cursor. */
export async function readLog(app: TestApp, cursor: string | null): Promise<{ events: PublicEvent[]; cursor: string }> {
	const events: PublicEvent[] = [];
	for (let at = cursor; ; ) {
		const query = at === null ? 'limit=100' : `limit=100&cursor=${at}`;
		const { status, body } = await app.call('GET', `/api/v1/events?${query}`);
		assert.equal(status, 200, JSON.stringify(body));
		events.push(...body.data);
		at = body.next_cursor as string;
		if (body.data.length < 100) return { events, cursor: at };
	}
}
