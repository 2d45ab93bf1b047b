// Own process: it measures the memory of the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { deferred, encodeServerSentEvent, type SourceReader } from '../../src/base/index.ts';
import { Heartbeats } from '../../src/http/heartbeats.ts';
import type { EncodableEvent, EventStreamResponse, HttpRequest, Route } from '../../src/http/index.ts';
import { EventWriter } from '../../src/http/sse.ts';
import { IterableSource } from '../support/pull-source.ts';
import { eventually, RawClient, start } from './harness.ts';

function streaming(
	events: (request: HttpRequest) => AsyncIterable<EncodableEvent>,
	headers?: EventStreamResponse['headers'],
): Route {
	return {
		method: 'GET',
		path: '/events',
		handle: (request) => ({ events: new IterableSource(events(request)), headers }),
	};
}

const GET = 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n';

/** The chunks of a chunked body. */
function chunksOf(text: string): string[] {
	const chunks: string[] = [];
	let at = text.indexOf('\r\n\r\n') + 4;
	for (;;) {
		const end = text.indexOf('\r\n', at);
		const size = Number.parseInt(text.slice(at, end), 16);
		if (Number.isNaN(size) || size === 0) return chunks;
		chunks.push(text.slice(end + 2, end + 2 + size));
		at = end + 2 + size + 2;
	}
}

/** Yields no value; ends when the consumer returns. */
function silent(onReturn: () => void): AsyncIterable<EncodableEvent> {
	const over = deferred<IteratorResult<EncodableEvent>>();
	return {
		[Symbol.asyncIterator]: () => ({
			next: () => over.promise,
			return: async () => {
				onReturn();
				over.resolve({ done: true, value: undefined });
				return { done: true, value: undefined };
			},
		}),
	};
}

test('serialises an event byte for byte as the standard requires', () => {
	assert.equal(
		encodeServerSentEvent({ id: '12.3', event: 'a.b', data: '{"x":1}' }),
		'id: 12.3\nevent: a.b\ndata: {"x":1}\n\n',
	);
	assert.equal(encodeServerSentEvent({ event: 'a', data: '' }), 'event: a\ndata: \n\n');
	assert.equal(
		encodeServerSentEvent({ event: 'a', data: '1\n2\r\n3\r4' }),
		'event: a\ndata: 1\ndata: 2\ndata: 3\ndata: 4\n\n',
	);
	assert.equal(
		encodeServerSentEvent({ id: '1\nevent: x', event: 'a\r\ndata: y', data: '' }),
		'id: 1 event: x\nevent: a data: y\ndata: \n\n',
	);
});

test('sends events with prepared bytes in order with others, in one write', async (t) => {
	const encoded = Buffer.from(encodeServerSentEvent({ id: '2.0', event: 'two', data: '"☕"' }));
	const shared = { id: '2.0', event: 'two', data: '"not read"', encoded };
	async function* mixed(): AsyncGenerator<EncodableEvent> {
		yield { id: '1.0', event: 'one', data: '"ü"', encoded: null };
		yield shared;
		yield { id: '3.0', event: 'three', data: '{}' };
	}
	async function* one(): AsyncGenerator<EncodableEvent> {
		yield shared;
	}
	const { port, url } = await start(t, [
		streaming(mixed),
		{ method: 'GET', path: '/one', handle: () => ({ events: new IterableSource(one()) }) },
	]);
	const expected =
		'id: 1.0\nevent: one\ndata: "ü"\n\nid: 2.0\nevent: two\ndata: "☕"\n\nid: 3.0\nevent: three\ndata: {}\n\n';
	assert.equal(await (await fetch(`${url}/events`)).text(), expected);
	assert.equal(await (await fetch(`${url}/one`)).text(), encoded.toString());
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.untilText('\r\n0\r\n\r\n');
	assert.equal(chunksOf(peer.text).length, 1);
});

test('forbids caching of a stream, and ends it when its events end', async (t) => {
	async function* two(): AsyncGenerator<EncodableEvent> {
		yield { id: '1.0', event: 'one', data: '"ü"' };
		yield { id: '2.0', event: 'two', data: '{}' };
	}
	const { port, url } = await start(t, [streaming(two, [['x-more', 'yes']])]);
	const response = await fetch(`${url}/events`);
	assert.equal(response.status, 200);
	assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
	assert.equal(response.headers.get('cache-control'), 'no-cache, no-transform');
	assert.equal(response.headers.get('x-accel-buffering'), 'no');
	assert.equal(response.headers.get('x-more'), 'yes');
	assert.equal(await response.text(), 'id: 1.0\nevent: one\ndata: "ü"\n\nid: 2.0\nevent: two\ndata: {}\n\n');
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.untilText('\r\n0\r\n\r\n');
	assert.equal(chunksOf(peer.text).length, 1, 'events of one iteration of the event loop are one write');
	peer.send(GET);
	await peer.until(() => peer.text.split('\r\n0\r\n\r\n').length === 3);
	assert.equal(peer.closed, false, 'the connection stays open');
});

test('answers HEAD of a stream with its headers and no body, and closes the events', async (t) => {
	let released = 0;
	const { url } = await start(t, [
		streaming(() =>
			silent(() => {
				released += 1;
			}),
		),
	]);
	const response = await fetch(`${url}/events`, { method: 'HEAD' });
	assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
	await eventually(() => released === 1, 'the events are closed');
});

test('a stream whose request does not end in time is refused, and its events are closed', async (t) => {
	let released = 0;
	const silentStream = streaming(() =>
		silent(() => {
			released += 1;
		}),
	);
	const { port } = await start(t, [silentStream], { limits: { lingeringCloseMs: 50 } });
	const peer = new RawClient(t, port);
	peer.send('GET /events HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf');
	await peer.untilText('\r\n\r\n');
	peer.send('x'.repeat(996));
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 400 (?:(?!HTTP\/1).)*The request did not end in time\./s);
	await eventually(() => released === 1, 'the events are closed');
});

test('opens an idle stream at once and keeps it alive with comments', async (t) => {
	const { port } = await start(t, [streaming(() => silent(() => {}))], { limits: { heartbeatIntervalMs: 30 } });
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.until(() => chunksOf(peer.text).length >= 3);
	assert.deepEqual(chunksOf(peer.text).slice(0, 3), [':\n\n', ':\n\n', ':\n\n']);
});

test('sends an event in the iteration of the event loop in which it became ready', async () => {
	const ready = deferred<void>();
	async function* one(): AsyncGenerator<EncodableEvent> {
		yield { event: 'opens', data: '' };
		await ready.promise;
		yield { event: 'later', data: '' };
		await new Promise(() => {});
	}
	const written: string[] = [];
	const sink = { write: (text: string) => written.push(text) > 0, end() {}, abort() {} };
	const writer = new EventWriter(new IterableSource(one()), sink, new Heartbeats(60_000));
	await eventually(() => written.length > 0, 'the stream is open');
	const seenByTheNext = await new Promise<string[]>((resolve) => {
		setImmediate(() => ready.resolve());
		setImmediate(() => resolve([...written]));
	});
	writer.onClientGone();
	assert.deepEqual(seenByTheNext, ['event: opens\ndata: \n\n', 'event: later\ndata: \n\n']);
});

test('sends the events that become ready in one turn in one write, the last ones with the end of the response', async () => {
	const ready: EncodableEvent[] = [];
	const source = {
		reader: null as SourceReader | null,
		isEnded: false,
		open(reader: SourceReader) {
			source.reader = reader;
		},
		read: () => ready.shift() ?? null,
		close() {
			source.isEnded = true;
		},
	};
	const written: string[] = [];
	const sink = {
		write: (text: string) => written.push(text) > 0,
		end: (text: string | null) => void written.push(`${text}end`),
		abort() {},
	};
	new EventWriter(source, sink, new Heartbeats(60_000));
	const become = (...names: string[]) => {
		for (const event of names) {
			ready.push({ event, data: '' });
			source.reader?.onReadable();
		}
	};
	const isWritten = (count: number) => eventually(() => written.length === count, `${count} writes`);
	await isWritten(1);
	become('a', 'b');
	queueMicrotask(() => become('c'));
	await isWritten(2);
	become('d');
	source.isEnded = true;
	await isWritten(3);
	const bytesOf = (...names: string[]) => names.map((event) => encodeServerSentEvent({ event, data: '' })).join('');
	assert.deepEqual(written, [':\n\n', bytesOf('a', 'b', 'c'), `${bytesOf('d')}end`]);
});

test('closes the events and aborts the signal when the client leaves', async (t) => {
	const released = deferred<void>();
	let signal: AbortSignal | undefined;
	const { port, server } = await start(t, [
		streaming((request) => {
			signal = request.signal;
			return silent(() => released.resolve());
		}),
	]);
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.untilText(':\n\n');
	peer.socket.destroy();
	await released.promise;
	assert.equal(signal?.aborted, true);
	await server.closeStreams();
});

test('aborts the connection when the events fail, instead of ending the response', async (t) => {
	async function* failing(): AsyncGenerator<EncodableEvent> {
		yield { event: 'a', data: '1' };
		throw new Error('lost');
	}
	const { port } = await start(t, [streaming(failing)]);
	const peer = new RawClient(t, port);
	peer.send(GET);
	const text = await peer.untilClosed();
	assert.match(text, /event: a\ndata: 1\n\n/);
	assert.ok(!text.endsWith('0\r\n\r\n'), 'a client must not take this for the end');
	assert.ok(!text.includes('lost'));
});

test('closes a stream whose headers cannot be written, and the server continues', async (t) => {
	const headers = [null as unknown as readonly [string, string]];
	const { port } = await start(t, [
		streaming(() => silent(() => {}), headers),
		{ method: 'GET', path: '/hello', handle: () => ({ status: 200 }) },
	]);
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.untilClosed();
	const next = new RawClient(t, port);
	next.send('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
	assert.match(await next.untilText('\r\n\r\n'), /^HTTP\/1\.1 200/);
});

test('yields to the event loop while events are always ready', async (t) => {
	let pulled = 0;
	async function* endless(): AsyncGenerator<EncodableEvent> {
		for (;;) {
			pulled += 1;
			yield { event: 'e', data: 'x'.repeat(20_000) };
		}
	}
	const { port, url } = await start(t, [
		streaming(endless),
		{ method: 'GET', path: '/hello', handle: () => ({ status: 200, body: String(pulled) }) },
	]);
	const peer = new RawClient(t, port);
	peer.send(GET);
	await peer.until(() => peer.size > 1_000_000);
	assert.ok(Number(await (await fetch(`${url}/hello`)).text()) > 0);
	peer.socket.destroy();
});

test('sends a slow reader every event in order, and produces no more than it takes', async (t) => {
	const data = 'x'.repeat(10_000);
	const total = 3_000;
	let made = 0;
	async function* many(): AsyncGenerator<EncodableEvent> {
		for (; made < total; made++) yield { id: String(made), event: 'e', data };
	}
	const { port } = await start(t, [streaming(many)], { limits: { sendTimeoutMs: 600_000 } });
	const peer = new RawClient(t, port);
	peer.socket.pause();
	peer.send(GET);
	let still = 0;
	let last = -1;
	await eventually(() => {
		still = made === last ? still + 1 : 0;
		last = made;
		return made > 0 && still > 2_000;
	}, 'the server waits');
	assert.ok(made < total / 2, `${made} events were made for a reader that takes none`);
	peer.socket.resume();
	await peer.until(() => peer.size > total * data.length);
	await peer.untilText('\r\n0\r\n\r\n');
	const ids: string[] = [];
	const parser = createParser({ onEvent: (event) => void ids.push(event.id as string) });
	parser.feed(chunksOf(peer.text).join(''));
	assert.deepEqual(
		ids,
		Array.from({ length: total }, (_, at) => String(at)),
	);
});

test('sends what was written before a pause although nothing follows it', async (t) => {
	const data = 'x'.repeat(8_000_000);
	async function* one(): AsyncGenerator<EncodableEvent> {
		yield { event: 'e', data };
		await new Promise(() => {});
	}
	const { port } = await start(t, [streaming(one)], { limits: { sendTimeoutMs: 600_000 } });
	const peer = new RawClient(t, port);
	peer.socket.pause();
	peer.send(GET);
	for (let iteration = 0; iteration < 200; iteration++) await new Promise((resolve) => setImmediate(resolve));
	peer.socket.resume();
	await peer.until(() => peer.size > data.length);
});

test('disconnects a reader that takes nothing within the time limit, and closes the events', async (t) => {
	const released = deferred<void>();
	async function* endless(): AsyncGenerator<EncodableEvent> {
		try {
			for (;;) yield { event: 'e', data: 'x'.repeat(50_000) };
		} finally {
			released.resolve();
		}
	}
	const { port } = await start(t, [streaming(endless)], { limits: { sendTimeoutMs: 100 } });
	const before = process.memoryUsage().rss;
	const since = performance.now();
	const peer = new RawClient(t, port);
	peer.socket.pause();
	peer.send(GET);
	await released.promise;
	assert.ok(performance.now() - since < 10_000, 'earlier than by the default limit');
	assert.ok(process.memoryUsage().rss - before < 60_000_000);
	peer.socket.resume();
	await peer.untilClosed();
});

test('ends each stream after its ready events when the server closes its streams', async (t) => {
	const released: number[] = [];
	const next = deferred<void>();
	async function* some(): AsyncGenerator<EncodableEvent> {
		try {
			yield { event: 'a', data: '1' };
			await next.promise;
		} finally {
			released.push(1);
		}
	}
	const { port, server } = await start(t, [
		streaming((request) => {
			request.signal.addEventListener('abort', () => next.resolve());
			return some();
		}),
	]);
	const peers = [new RawClient(t, port), new RawClient(t, port)];
	for (const peer of peers) peer.send(GET);
	for (const peer of peers) await peer.untilText('data: 1');
	server.drain();
	await server.closeStreams();
	assert.equal(released.length, 2);
	for (const peer of peers) await peer.untilText('\r\n0\r\n\r\n');
});
