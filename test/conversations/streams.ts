import assert from 'node:assert/strict';
import type { TestApp } from '../support/app.ts';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';

/** An event stream that a test reads step by step. */
export interface TestStream extends AsyncDisposable {
	readonly response: Response;
	/**
	 * The events up to and including the first that `wanted` accepts.
	 * @throws after two minutes without that event, with the names of the events that came
	 */
	until(wanted: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent[]>;
	/**
	 * All further events, to the end of the stream.
	 * @throws after two minutes without the end, with the names of the events that came
	 */
	rest(): Promise<ReceivedEvent[]>;
	/** Disconnects, as a client does that closes its tab. */
	disconnect(): void;
}

/** Only a test that fails takes so long: far longer than any reply on a machine that runs ten other tests. */
const DEADLINE_MS = 120_000;

/** Opens an event stream. */
export async function openTestStream(url: string, init: RequestInit = {}): Promise<TestStream> {
	const away = new AbortController();
	const response = await fetch(url, { ...init, signal: away.signal });
	assert.equal(response.status, 200, response.status === 200 ? '' : await response.clone().text());
	const events = eventsOf(response);
	const namesOf = (seen: readonly ReceivedEvent[]) => seen.map(({ event }) => event).join(', ') || 'no event';
	/** Reads into `seen` within the deadline. After it the stream is closed, so that the read ends too. */
	const withinDeadline = async (awaited: string, seen: ReceivedEvent[], read: Promise<void>) => {
		let timer: NodeJS.Timeout | undefined;
		const timeout = new Promise<never>((_, reject) => {
			timer = setTimeout(() => {
				reject(new Error(`Waited ${DEADLINE_MS / 1000} s for ${awaited} of ${url}. It sent ${namesOf(seen)}.`));
				away.abort();
			}, DEADLINE_MS);
		});
		read.catch(() => {});
		await Promise.race([read, timeout]).finally(() => clearTimeout(timer));
		return seen;
	};
	return {
		response,
		until(wanted) {
			const seen: ReceivedEvent[] = [];
			const read = async () => {
				for (;;) {
					const { value, done } = await events.next();
					assert.ok(!done, `the stream ended after ${namesOf(seen)}`);
					seen.push(value);
					if (wanted(value)) return;
				}
			};
			return withinDeadline('an event', seen, read());
		},
		rest() {
			const seen: ReceivedEvent[] = [];
			const read = async () => {
				for await (const event of events) seen.push(event);
			};
			return withinDeadline('the end', seen, read());
		},
		disconnect: () => away.abort(),
		async [Symbol.asyncDispose]() {
			away.abort();
		},
	};
}

/** Sends a message and opens the stream of its reply. */
export function sendStreamed(app: TestApp, body: Record<string, unknown>): Promise<TestStream> {
	return openTestStream(`${app.url}/api/v1/messages`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ stream: true, ...body }),
	});
}

/** Follows a conversation, from a position where one is given. */
export function follow(app: TestApp, conversation: string, lastEventId?: string): Promise<TestStream> {
	return openTestStream(`${app.url}/api/v1/conversations/${conversation}/events`, {
		headers: {
			authorization: `Bearer ${app.key}`,
			...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
		},
	});
}

export const isNamed =
	(...names: string[]) =>
	({ event }: ReceivedEvent) =>
		names.includes(event ?? '');

/**
 * What a client shows that does what the events say: the text of each message by its id. Checks on the way that no delta
 * leaves a gap or comes twice.
 */
export class ClientView {
	readonly texts = new Map<string, string>();
	readonly statuses = new Map<string, string>();

	show(events: readonly ReceivedEvent[]): this {
		for (const { event, data } of events) {
			assert.equal(data.type, event);
			if (event === 'message.delta') {
				const text = this.texts.get(data.message_id);
				assert.equal(data.index, text?.length, `a delta goes to the end of what is there (${data.delta})`);
				this.texts.set(data.message_id, text + data.delta);
			} else if (event === 'message.reset') {
				this.texts.set(data.message_id, '');
			} else if (event !== 'presence') {
				this.texts.set(data.message.id, data.message.content);
				this.statuses.set(data.message.id, data.message.status);
			}
		}
		return this;
	}
}
