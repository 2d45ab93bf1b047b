import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { Outbox, type OutboxStore, type PositionedUpdate, type StreamPosition } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store, type StoredEvent } from '../../src/store/index.ts';
import { itemsOf } from '../support/pull-source.ts';
import { StreamReader, StreamWriter } from './conversation.ts';

let dataDir: string;
let store: Store;
let outbox: Outbox;
before(async () => {
	dataDir = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
	store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	outbox = new Outbox(store);
});
after(async () => {
	outbox[Symbol.dispose]();
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true });
});

/** A follower that is driven by hand. It listens from the first step on. */
function follow(stream: string, position: StreamPosition | null, from: Outbox = outbox) {
	const ending = new AbortController();
	const items = itemsOf(from.subscribe(stream, position), ending.signal);
	const next = async () => (await items.next()).value ?? undefined;
	return {
		ending,
		items,
		next,
		/** Begins to listen; the first item comes with the promise. */
		listen: () => next(),
		async take(count: number): Promise<PositionedUpdate[]> {
			const taken: PositionedUpdate[] = [];
			while (taken.length < count) taken.push((await next()) as PositionedUpdate);
			return taken;
		},
		async stop(): Promise<void> {
			ending.abort();
			await items.return();
		},
	};
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
	const [end] = await Promise.allSettled([promise]);
	return end;
}

/** What an item says, in short. */
function said(item: PositionedUpdate | undefined): unknown[] {
	if (!item) return ['end'];
	if (item.kind === 'delta') return [item.delta.index, item.delta.text];
	const { event, replayed } = item;
	return [event.type, event.data.text ?? 'says', replayed ? 'replayed' : 'live'];
}

test('a follower without a position gets live events only', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.say(3);
	const follower = follow(writing.stream, null);
	const first = follower.listen();
	const seq = await writing.say();
	const item = await first;
	assert.equal(item?.kind === 'event' && item.event.seq, seq);
	assert.deepEqual(said(item), ['message.created', 'says', 'live']);
	await follower.stop();
});

test('a follower without a position gets the open text from its beginning, then its deltas', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.say(2);
	await writing.opens();
	writing.grows('It ');
	writing.grows('costs ');
	const follower = follow(writing.stream, null);
	assert.deepEqual((await follower.take(2)).map(said), [
		['message.created', 'opens', 'live'],
		[0, 'It costs '],
	]);
	writing.grows('5 €.');
	await writing.closes();
	assert.deepEqual((await follower.take(2)).map(said), [
		[9, '5 €.'],
		['message.completed', 'closes', 'live'],
	]);
	await follower.stop();
});

test('a follower with a position gets missed events from the log, then live events', async () => {
	const writing = new StreamWriter(store, outbox);
	const first = await writing.say();
	await writing.opens();
	writing.grows('gone');
	await writing.closes();
	const follower = follow(writing.stream, { seq: first, offset: 0 });
	assert.deepEqual((await follower.take(2)).map(said), [
		['message.created', 'opens', 'replayed'],
		['message.completed', 'closes', 'replayed'],
	]);
	const next = follower.next();
	await writing.say();
	assert.deepEqual(said(await next), ['message.created', 'says', 'live']);
	await follower.stop();
});

test('a follower that resumes within an open text gets the rest of it', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.opens();
	writing.grows('It costs ');
	const seq = writing.growing?.seq as number;
	const follower = follow(writing.stream, { seq, offset: 3 });
	assert.deepEqual(said(await follower.next()), [3, 'costs ']);
	writing.grows('5 €.');
	assert.deepEqual(said(await follower.next()), [9, '5 €.']);
	await follower.stop();

	const upToDate = follow(writing.stream, { seq, offset: 13 });
	const next = upToDate.next();
	writing.grows(' Or 6.');
	assert.deepEqual(said(await next), [13, ' Or 6.']);
	await upToDate.stop();
	await writing.closes();
});

test('a follower that comes while a text is open gets its opening event as live, however late it reads it', async () => {
	const writing = new StreamWriter(store, outbox);
	const before = await writing.say();
	await writing.opens();
	writing.grows('It costs ');
	const updates = outbox.subscribe(writing.stream, { seq: before, offset: 0 });
	updates.open({ onReadable: () => {} });
	writing.grows('5 €.');
	await writing.closes();
	const items: PositionedUpdate[] = [];
	for (let item = updates.read(); item !== null; item = updates.read()) items.push(item);
	assert.deepEqual(items.map(said), [
		['message.created', 'opens', 'live'],
		[0, 'It costs '],
		[9, '5 €.'],
		['message.completed', 'closes', 'live'],
	]);
	await updates.close();
});

test('a reset empties a reply that is written again, and its text grows from the start', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.opens();
	writing.grows('It cos');
	const position = { seq: writing.growing?.seq as number, offset: 6 };
	await writing.resets();
	writing.grows('Five');
	const follower = follow(writing.stream, position);
	assert.deepEqual((await follower.take(2)).map(said), [
		['message.reset', 'opens', 'live'],
		[0, 'Five'],
	]);
	await follower.stop();
	await writing.closes();
});

test('an event within an open text neither closes it nor loses the position in it', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.opens();
	writing.grows('It ');
	const reader = new StreamReader();
	const follower = follow(writing.stream, null);
	for (const item of await follower.take(2)) reader.take(item);
	await writing.say();
	reader.take((await follower.next()) as PositionedUpdate);
	assert.equal(reader.position?.offset, 3);
	await follower.stop();

	writing.grows('costs ');
	const again = follow(writing.stream, reader.position);
	reader.take((await again.next()) as PositionedUpdate);
	const beforeSecond = reader.position;
	await writing.say();
	writing.grows('5 €.');
	for (const item of await again.take(2)) reader.take(item);
	await again.stop();
	assert.equal(reader.shown?.text, 'It costs 5 €.');

	const missedIt = follow(writing.stream, beforeSecond);
	assert.deepEqual((await missedIt.take(2)).map(said), [
		['message.created', 'says', 'replayed'],
		[9, '5 €.'],
	]);
	await missedIt.stop();
	const newcomer = follow(writing.stream, null);
	const told = await newcomer.take(2);
	assert.deepEqual(told.map(said), [
		['message.created', 'opens', 'live'],
		[0, 'It costs 5 €.'],
	]);
	await newcomer.stop();
	const resumed = follow(writing.stream, told[0]?.position ?? null);
	assert.deepEqual(said(await resumed.next()), [0, 'It costs 5 €.'], 'what came before it joined is not told later');
	await resumed.stop();
	await writing.closes();
});

test('drops deltas of a stream without an open text', async () => {
	const writing = new StreamWriter(store, outbox);
	outbox.appendText(writing.stream, 'into the void');
	await writing.opens();
	const follower = follow(writing.stream, null);
	assert.deepEqual(said(await follower.next()), ['message.created', 'opens', 'live']);
	await writing.closes();
	outbox.appendText(writing.stream, 'too late');
	const seq = await writing.say();
	const [closes, says] = await follower.take(2);
	assert.deepEqual(said(closes), ['message.completed', 'closes', 'live']);
	assert.equal(says?.kind === 'event' && says.event.seq, seq);
	await follower.stop();
});

test('does not repeat the end of a reply that is on disk but not published yet', async () => {
	let listener: (events: StoredEvent[]) => void = () => {};
	let unheard: StoredEvent[][] | null = null;
	const late = new Outbox({
		events: store.events,
		onEvents(heard) {
			listener = heard;
			return store.onEvents((events) => (unheard ? void unheard.push(events) : heard(events)));
		},
	});
	const writing = new StreamWriter(store, late);
	await writing.opens();
	writing.grows('It costs 5 €.');
	unheard = [];
	await writing.closes();
	const seq = await writing.say();
	const follower = follow(writing.stream, { seq, offset: 0 }, late);
	const next = follower.next();
	for (const events of unheard.splice(0)) listener(events);
	unheard = null;
	const after = await writing.say();
	const item = await next;
	assert.equal(item?.kind === 'event' && item.event.seq, after);
	await follower.stop();
	late[Symbol.dispose]();
});

test('treats a position from another database as the live position', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.say();
	for (const seq of [10 ** 9, Number.MAX_SAFE_INTEGER]) {
		const follower = follow(writing.stream, { seq, offset: 0 });
		const next = follower.next();
		const live = await writing.say();
		const item = await next;
		assert.equal(item?.kind === 'event' && item.event.seq, live);
		await follower.stop();
	}
});

test('a follower gets no events of another stream', async () => {
	const [mine, other] = [new StreamWriter(store, outbox), new StreamWriter(store, outbox)];
	const follower = follow(mine.stream, null);
	const next = follower.next();
	await other.opens();
	other.grows('secret');
	await other.closes();
	const seq = await mine.say();
	const item = await next;
	assert.equal(item?.kind === 'event' && item.event.seq, seq);
	await follower.stop();
});

test('passes events with any data, and opens a text only where the event says so', async () => {
	const stream = newId('workspace');
	const follower = follow(stream, null);
	const next = follower.next();
	const data = [null, 'text', 7, { name: 'Guide' }];
	await store.commit({
		events: data.map((one) => ({ id: newId('event'), stream, type: 'any', data: one, created_at: 0 })),
	});
	const items = [await next, ...(await follower.take(3))];
	assert.deepEqual(
		items.map((item) => item?.kind === 'event' && item.event.data),
		data,
	);
	await follower.stop();
});

test('merges waiting deltas for a slow follower into fewer and larger ones with the same text', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.opens();
	const [fast, slow] = [follow(writing.stream, null), follow(writing.stream, null)];
	await Promise.all([fast.next(), slow.next()]);
	const words = Array.from({ length: 2000 }, (_, n) => `word${n} `);
	const read: string[] = [];
	for (const word of words) {
		writing.grows(word);
		const item = await fast.next();
		if (item?.kind === 'delta') read.push(item.delta.text);
	}
	assert.deepEqual(read, words);
	assert.deepEqual(said(await slow.next()), [0, words.join('')]);
	await writing.closes();
	assert.deepEqual(said(await slow.next()), ['message.completed', 'closes', 'live']);
	await Promise.all([fast.stop(), slow.stop()]);
});

test('ends a follower that does not read, which misses nothing when it resumes', async () => {
	const writing = new StreamWriter(store, outbox);
	await writing.opens();
	const reader = new StreamReader();
	const slow = follow(writing.stream, null);
	reader.take((await slow.next()) as PositionedUpdate);
	for (let n = 0; n < 30; n++) writing.grows('x'.repeat(50_000));
	await assert.rejects(slow.next(), { code: 'unavailable', message: /too slowly/ });

	const again = follow(writing.stream, reader.position);
	reader.take((await again.next()) as PositionedUpdate);
	await writing.closes();
	reader.take((await again.next()) as PositionedUpdate);
	assert.deepEqual(
		reader.finished,
		[...writing.texts].map(([seq, text]) => ({ seq, text })),
	);
	await again.stop();
});

test('a follower that overflows gets no events after the gap', async () => {
	const writing = new StreamWriter(store, outbox);
	const from = await writing.say();
	const reader = new StreamReader({ seq: from, offset: 0 });
	for (const moment of ['waiting for events', 'reading one']) {
		const slow = follow(writing.stream, reader.position);
		const first = settled(slow.next());
		if (moment === 'reading one') {
			await writing.say();
			await first;
		}
		await writing.say(5500);
		await writing.say();
		const readOn = async () => {
			for (let end = await first; ; end = await settled(slow.next())) {
				if (end.status === 'rejected') throw end.reason;
				reader.take(end.value as PositionedUpdate);
			}
		};
		await assert.rejects(readOn(), { code: 'unavailable' });

		const again = follow(writing.stream, reader.position);
		const last = await writing.say();
		while (reader.position?.seq !== last) reader.take((await again.next()) as PositionedUpdate);
		const log = (await store.events.after(writing.stream, from, 100_000)).map(({ seq }) => seq);
		assert.deepEqual(reader.heard, log);
		await again.stop();
	}
});

test('reads the log in many pages while live events come', async () => {
	const writing = new StreamWriter(store, outbox);
	const from = await writing.say();
	await writing.say(450);
	const reader = new StreamReader({ seq: from, offset: 0 });
	const follower = follow(writing.stream, reader.position);
	let last = 0;
	for (let read = 0; read === 0 || reader.position?.seq !== last; read++) {
		if (read % 100 === 0 && read <= 600) last = await writing.say(25);
		reader.take((await follower.next()) as PositionedUpdate);
	}
	const log = (await store.events.after(writing.stream, from, 10_000)).map(({ seq }) => seq);
	assert.equal(log.length, 450 + 6 * 25);
	assert.deepEqual(reader.heard, log);
	await follower.stop();
});

test('drops a stream that has no follower and no growing reply', async () => {
	const own = new Outbox(store);
	const writing = new StreamWriter(store, own);
	const waiting = follow(writing.stream, null, own);
	const end = waiting.next();
	assert.equal(own.size, 1);
	waiting.ending.abort();
	assert.deepEqual(said(await end), ['end']);
	assert.equal(own.size, 0);

	await writing.opens();
	assert.equal(own.size, 1);
	const reading = follow(writing.stream, null, own);
	await reading.next();
	await reading.items.return();
	assert.equal(own.size, 1, 'the reply still grows');
	await writing.closes();
	assert.equal(own.size, 0);

	await new StreamWriter(store, own).say(3);
	assert.equal(own.size, 0, 'events that nobody follows hold nothing');
	const aborted = follow(writing.stream, null, own);
	aborted.ending.abort();
	assert.deepEqual(said(await aborted.next()), ['end']);
	assert.equal(own.size, 0);
	own[Symbol.dispose]();
});

test('an abort ends a follower in the middle of the backlog', async () => {
	const writing = new StreamWriter(store, outbox);
	const seq = await writing.say();
	await writing.say(10);
	const follower = follow(writing.stream, { seq, offset: 0 });
	await follower.take(2);
	follower.ending.abort();
	assert.deepEqual(said(await follower.next()), ['end']);
});

test('ends all followers when the outbox closes, and stops reading the store', async () => {
	let closed = false;
	const reads: string[] = [];
	const watched: OutboxStore = {
		onEvents: (listener) => store.onEvents(listener),
		events: {
			after(...query) {
				if (closed) reads.push(query[0]);
				return store.events.after(...query);
			},
		},
	};
	const own = new Outbox(watched);
	const writing = new StreamWriter(store, own);
	const from = await writing.say();
	await writing.say(250);
	const waiting = follow(writing.stream, null, own);
	const end = waiting.next();
	const catchingUp = follow(writing.stream, { seq: from, offset: 0 }, own);
	await catchingUp.take(200);
	own[Symbol.dispose]();
	closed = true;
	assert.deepEqual(said(await end), ['end']);
	assert.deepEqual(said(await catchingUp.next()), ['end']);
	const late = follow(writing.stream, { seq: from, offset: 0 }, own);
	assert.deepEqual(said(await late.next()), ['end']);
	assert.deepEqual(reads, []);
	assert.equal(own.size, 0);
	await writing.say();
	own.appendText(writing.stream, 'nobody hears this');
	assert.equal(own.size, 0);
});
