import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Deferred, deferred } from '../../src/base/index.ts';
import { Outbox, type PositionedUpdate, type StreamEventData } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type EventsReader, openSqliteStore, type Store, type StoredEvent } from '../../src/store/index.ts';
import { itemsOf } from '../support/pull-source.ts';
import { StreamReader, StreamWriter } from './conversation.ts';

interface Plain {
	do: 'open' | 'reset' | 'close' | 'settle' | 'turn' | 'hold reads' | 'let reads go';
}
type Step =
	| Plain
	| { do: 'say'; count: number }
	| { do: 'grow'; text: string }
	| { do: 'join'; at: number; turns: boolean; within: number }
	| { do: 'join now' }
	| { do: 'read'; who: number; count: number }
	| { do: 'leave' | 'return'; who: number };

const only = (...names: Array<Plain['do']>) => fc.constantFrom(...names.map((name): Plain => ({ do: name })));
const who = fc.nat(5);
const joining = fc.record({ do: fc.constant('join' as const), at: fc.nat(99), turns: fc.boolean(), within: fc.nat(9) });
const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{ weight: 2, arbitrary: fc.record({ do: fc.constant('say' as const), count: fc.constantFrom(1, 1, 2, 60, 205) }) },
		{ weight: 8, arbitrary: only('open', 'reset', 'close', 'open', 'close') },
		{
			weight: 8,
			arbitrary: fc.record({ do: fc.constant('grow' as const), text: fc.constantFrom('a', 'bc', '🧭', 'd€f') }),
		},
		{ weight: 6, arbitrary: only('settle', 'turn', 'turn', 'hold reads', 'let reads go') },
		{ weight: 3, arbitrary: joining },
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

	readonly events = {
		after: async (...query: Parameters<EventsReader['after']>): Promise<StoredEvent[]> => {
			await this.#gate?.promise;
			const events = await store.events.after(...query);
			await this.#gate?.promise;
			return events;
		},
	};

	onEvents(listener: Parameters<Store['onEvents']>[0]): () => void {
		return store.onEvents(listener);
	}
}

/** A client that comes and goes, and reads as much as it is allowed to. */
class Client {
	readonly reader: StreamReader;
	/** The last event of which it need not hear. */
	since: number;
	#allowed = 0;
	#more: Deferred<void> = deferred();
	#connection: AbortController | null = null;
	readonly #ended: Array<Promise<void>> = [];
	/** What a connection met with that no follower should. */
	failure: unknown;

	constructor(reader: StreamReader) {
		this.reader = reader;
		this.since = reader.position?.seq ?? 0;
	}

	/** @param latest what the stream has told last; without a position that is what the client goes on from */
	connect(outbox: Outbox, stream: string, latest: StoredEvent | undefined): void {
		if (this.#connection) return;
		if (this.reader.position === null) this.since = latest?.seq ?? 0;
		const ending = new AbortController();
		const items = itemsOf(outbox.subscribe(stream, this.reader.position), ending.signal);
		this.#connection = ending;
		const ended = this.#run(items, ending.signal).catch((error: unknown) => {
			this.failure ??= error;
		});
		this.#ended.push(ended);
	}

	read(count: number): void {
		this.#allowed += count;
		this.#more.resolve();
		this.#more = deferred();
	}

	disconnect(): void {
		this.#connection?.abort();
		this.#connection = null;
		this.read(0);
	}

	/** Disconnects, and waits until nothing of any connection is left. */
	async close(): Promise<void> {
		this.disconnect();
		await Promise.all(this.#ended);
	}

	async #run(items: AsyncGenerator<PositionedUpdate, void>, signal: AbortSignal): Promise<void> {
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

test('any interleaving gives every follower every event once, in order, and every text whole', async () => {
	await fc.assert(
		fc.asyncProperty(steps, async (script) => {
			const log = new GatedLog();
			const outbox = new Outbox(log);
			const writing = new StreamWriter(store, outbox);
			const known: StoredEvent[] = [];
			const end = store.onEvents((events) => known.push(...events.filter(({ stream }) => stream === writing.stream)));
			const clients: Client[] = [];
			/** What the reply's writer does happens one after the other, beside what readers do. */
			let written: Promise<unknown> = writing.say();
			const write = (task: () => unknown) => {
				written = written.then(task);
			};
			const enter = (client: Client) => {
				clients.push(client);
				client.connect(outbox, writing.stream, known.at(-1));
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
				else if (step.do === 'join now') enter(new Client(new StreamReader()));
				else if (step.do === 'join') {
					enter(new Client(readerAt(known, step, writing)));
				} else if ('who' in step) {
					const client = clients[step.who % clients.length];
					if (step.do === 'read') client?.read(step.count);
					else if (step.do === 'return') client?.connect(outbox, writing.stream, known.at(-1));
					else client?.disconnect();
				}
			}

			log.release();
			await written;
			if (writing.growing) await writing.closes();
			for (const client of clients) {
				client.connect(outbox, writing.stream, known.at(-1));
				client.read(100_000);
			}
			const last = await writing.say();
			const isLate = () => clients.some(({ reader, failure }) => !failure && reader.position?.seq !== last);
			for (const deadline = Date.now() + 3000; isLate(); ) {
				assert.ok(Date.now() < deadline, 'a follower never heard of the last event');
				await new Promise(setImmediate);
			}
			await Promise.all(clients.map((client) => client.close()));
			end();

			const all = await store.events.after(writing.stream, 0, 100_000);
			for (const { reader, since, failure } of clients) {
				if (failure) throw failure;
				const expected = all.filter(({ seq }) => seq > since).map(({ seq }) => seq);
				assert.deepEqual(reader.heard, expected);
				for (const { seq, text } of reader.finished) assert.equal(text, writing.texts.get(seq));
			}
			assert.equal(outbox.size, 0);
			outbox[Symbol.dispose]();
		}),
		{ numRuns: 300 },
	);
});

/** A client whose position is an event (if asked for, the start or end of a reply) or within a reply's text. */
function readerAt(known: StoredEvent[], step: Extract<Step, { do: 'join' }>, writing: StreamWriter): StreamReader {
	const textOf = (event: StoredEvent) => (event.data as StreamEventData).text;
	const turns = known.filter((event) => textOf(event) !== undefined);
	const choice = step.turns && turns.length > 0 ? turns : known;
	const { seq } = choice[step.at % choice.length] as StoredEvent;
	const turn = turns.findLast((event) => event.seq <= seq);
	if (!turn || textOf(turn) === 'closes') return new StreamReader({ seq, offset: 0 });
	const text = turn.seq === seq ? (writing.texts.get(seq) ?? '').slice(0, step.within) : '';
	const { message_id } = turn.data as StreamEventData;
	return new StreamReader({ seq, offset: text.length }, { seq: turn.seq, message_id, text });
}
