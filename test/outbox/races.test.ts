import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Deferred, deferred, withDeadline } from '../../src/base/index.ts';
import { Outbox, type StreamItem } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store, type StoredEvent } from '../../src/store/index.ts';
import { Reader, Writing } from './conversation.ts';

type Step =
	| { do: 'say'; count: number }
	| { do: 'open' | 'reset' | 'close' | 'settle' | 'turn' | 'hold reads' | 'let reads go' }
	| { do: 'grow'; text: string }
	| { do: 'join'; at: number; within: number }
	| { do: 'join now' }
	| { do: 'read'; who: number; count: number }
	| { do: 'leave' | 'return'; who: number };

const only = (...names: Array<Extract<Step, { do: 'open' | 'turn' }>['do']>) =>
	fc.constantFrom(...names.map((name) => ({ do: name })));
const who = fc.nat(5);
const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{ weight: 3, arbitrary: fc.record({ do: fc.constant('say' as const), count: fc.constantFrom(1, 1, 2, 60, 205) }) },
		{ weight: 8, arbitrary: only('open', 'reset', 'close', 'open', 'close') },
		{
			weight: 8,
			arbitrary: fc.record({ do: fc.constant('grow' as const), text: fc.constantFrom('a', 'bc', '🧭', 'd€f') }),
		},
		{ weight: 6, arbitrary: only('settle', 'turn', 'turn', 'hold reads', 'let reads go') },
		{ weight: 3, arbitrary: fc.record({ do: fc.constant('join' as const), at: fc.nat(99), within: fc.nat(9) }) },
		{ weight: 2, arbitrary: fc.constant({ do: 'join now' as const }) },
		{
			weight: 7,
			arbitrary: fc.record({ do: fc.constant('read' as const), who, count: fc.constantFrom(1, 2, 5, 300) }),
		},
		{ weight: 4, arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'return' as const), who }) },
	),
	{ minLength: 5, maxLength: 60 },
);

let dataDir: string;
let store: Store;
before(async () => {
	dataDir = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
	store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
});
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true });
});

/** The store, whose log is read only while the gate is open. */
class GatedLog {
	#gate: Deferred<void> | null = null;

	hold(): void {
		this.#gate ??= deferred();
	}

	release(): void {
		this.#gate?.resolve();
		this.#gate = null;
	}

	async events(...query: Parameters<Store['events']>): Promise<StoredEvent[]> {
		await this.#gate?.promise;
		const events = await store.events(...query);
		await this.#gate?.promise;
		return events;
	}

	onEvents(listener: Parameters<Store['onEvents']>[0]): () => void {
		return store.onEvents(listener);
	}
}

/** A client that comes and goes, and reads as much as it is allowed to. */
class Client {
	readonly reader: Reader;
	/** The last event of which it need not hear, because it had come about before it first joined. */
	readonly since: number;
	#allowed = 0;
	#more: Deferred<void> = deferred();
	#connection: { ending: AbortController; ended: Promise<void> } | null = null;

	constructor(reader: Reader, since: number) {
		this.reader = reader;
		this.since = since;
	}

	connect(outbox: Outbox, stream: string): void {
		if (this.#connection) return;
		const ending = new AbortController();
		const items = outbox.follow(stream, { after: this.reader.position, signal: ending.signal });
		this.#connection = { ending, ended: this.#run(items, ending.signal) };
	}

	read(count: number): void {
		this.#allowed += count;
		this.#more.resolve();
		this.#more = deferred();
	}

	async disconnect(): Promise<void> {
		const connection = this.#connection;
		this.#connection = null;
		connection?.ending.abort();
		this.#more.resolve();
		this.#more = deferred();
		await connection?.ended;
	}

	async #run(items: AsyncGenerator<StreamItem, void>, signal: AbortSignal): Promise<void> {
		// The first item is asked for at once: it is then that a follower begins to listen.
		let next = items.next();
		for (;;) {
			while (this.#allowed === 0 && !signal.aborted) await this.#more.promise;
			if (signal.aborted) break;
			this.#allowed--;
			const { done, value } = await next;
			if (done || signal.aborted) break;
			this.reader.take(value);
			next = items.next();
		}
		await next;
		await items.return();
	}
}

test('whatever is interleaved, every follower hears every event once, in order, and every text whole', async () => {
	await fc.assert(
		fc.asyncProperty(steps, async (script) => {
			const log = new GatedLog();
			const outbox = new Outbox(log);
			const writing = new Writing(store, outbox);
			const known: StoredEvent[] = [];
			const end = store.onEvents((events) => known.push(...events.filter(({ stream }) => stream === writing.stream)));
			const clients: Client[] = [];
			/** What the reply's writer does happens one after the other, beside what readers do. */
			let written: Promise<unknown> = writing.say();
			const write = (task: () => unknown) => {
				written = written.then(task);
			};
			const join = (client: Client) => {
				clients.push(client);
				client.connect(outbox, writing.stream);
			};
			await written;

			for (const step of script) {
				if (step.do === 'say') write(() => writing.say(step.count));
				else if (step.do === 'open') write(() => writing.growing ?? writing.opens());
				else if (step.do === 'reset') write(() => writing.growing && writing.resets());
				else if (step.do === 'close') write(() => writing.growing && writing.closes());
				else if (step.do === 'grow') write(() => writing.grows(step.text));
				else if (step.do === 'settle') await written;
				else if (step.do === 'turn') await new Promise(setImmediate);
				else if (step.do === 'hold reads') log.hold();
				else if (step.do === 'let reads go') log.release();
				else if (step.do === 'join now') join(new Client(new Reader(), known.at(-1)?.seq as number));
				else if (step.do === 'join') {
					const event = known[step.at % known.length] as StoredEvent;
					join(new Client(readerAt(event, step.within, writing), event.seq));
				} else {
					const client = clients[step.who % clients.length];
					if (step.do === 'read') client?.read(step.count);
					else if (step.do === 'return') client?.connect(outbox, writing.stream);
					else await client?.disconnect();
				}
			}

			log.release();
			await written;
			if (writing.growing) await writing.closes();
			const last = await writing.say();
			for (const client of clients) {
				client.connect(outbox, writing.stream);
				client.read(100_000);
			}
			const caughtUp = async () => {
				while (clients.some(({ reader }) => reader.position?.seq !== last)) await new Promise(setImmediate);
			};
			await withDeadline(caughtUp(), 10_000, () => new Error('a follower never heard of the last event'));
			await Promise.all(clients.map((client) => client.disconnect()));
			end();

			const all = await store.events(writing.stream, 0, 100_000);
			for (const { reader, since } of clients) {
				const expected = all.filter(({ seq }) => seq > since).map(({ seq }) => seq);
				assert.deepEqual(reader.heard, expected);
				for (const { seq, text } of reader.finished) assert.equal(text, writing.texts.get(seq));
			}
			assert.equal(outbox.size, 0);
			outbox[Symbol.dispose]();
		}),
		{ numRuns: 150 },
	);
});

/** A client that had come as far as this event, or some way into the text that it opened. */
function readerAt({ seq, data }: StoredEvent, within: number, writing: Writing): Reader {
	const { message_id, text } = data as { message_id: string; text?: 'opens' | 'closes' };
	if (text !== 'opens') return new Reader({ seq, offset: 0 });
	const known = (writing.texts.get(seq) ?? '').slice(0, within);
	return new Reader({ seq, offset: known.length }, { seq, message_id, text: known });
}
