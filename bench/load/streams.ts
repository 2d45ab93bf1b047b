import { connect, type Socket } from 'node:net';
import { serveCommands } from './load-process.ts';
import { FIRST_TOKEN, monotonicMs, TOKEN_END } from './model-script.ts';

/**
 * A load of streams as a separate process. Either it keeps a number of streams of one request open and starts the next as soon as one
 * has ended, or it opens idle streams and holds them.
 */

/** A command of the parent process. */
export type StreamsCommand = SustainCommand | HoldCommand | { count: true } | { release: true };

/** Keeps a number of streams running. */
export interface SustainCommand {
	port: number;
	/** The whole request, head and body. */
	request: string;
	/** Text before the first token in the stream. */
	first: string;
	/** Text at the end of a successful stream. */
	end: string;
	streams: number;
	/** The first streams start evenly over this time, which is not measured. */
	spreadMs: number;
	/**
	 * Streams that start each second, whether or not earlier ones have ended (an open loop): a time counts from the moment at which the
	 * stream was due. Null: the next starts as soon as one has ended.
	 */
	arrivalsPerSecond: number | null;
	seconds: number;
}

/** Idle streams. */
export interface HoldCommand {
	port: number;
	hold: string[];
	headers: string[];
}

/** Results of the streams that started during the measurement. Times are in milliseconds. */
export interface StreamsResult {
	seconds: number;
	started: number;
	/** Streams that ended successfully during the measurement, whenever they started. */
	completed: number;
	failed: number;
	/** Describes the first failure. */
	firstFailure: string | null;
	/** Tokens received during the measurement. */
	tokens: number;
	/** From sending the request to the first token. */
	firstTokenMs: number[];
	/** From sending the request to the end of the reply. */
	wholeReplyMs: number[];
	/** From sending the request to its arrival at the model. */
	toModelMs: number[];
	/** From the model's first token to its arrival here. */
	fromModelMs: number[];
}

export interface HeldStreams {
	open: number;
	/** Bytes received on the held streams. */
	bytes: number;
	firstFailure: string | null;
}

/** After the measurement, running streams are read to their end for at most this time. */
const DRAIN_MS = 15_000;
/** The measurement is extended up to this time until enough streams have started. */
const MAX_RUN_MS = 20_000;
const MIN_STREAMS = 20;
/** Connections that are opened at the same time. */
const MAX_CONCURRENT_CONNECTS = 128;
const TOKEN = TOKEN_END.charCodeAt(0);
/** Longer than any searched text: this much of the previous text is kept. */
const TAIL_CHARS = 64;

/** A connection with one stream at a time. */
class Connection {
	#socket: Socket | undefined;
	#sentAt = 0;
	#measured = false;
	/** What is searched next: the first token, the end, the end of the response's framing. */
	#stage: 'first' | 'end' | 'framing' | 'idle' = 'idle';
	#text = '';

	constructor(readonly run: LoadRun) {}

	async open(): Promise<void> {
		const socket = connect({ port: this.run.order.port, host: '127.0.0.1', noDelay: true });
		this.#socket = socket;
		await new Promise<void>((resolve, reject) => {
			socket.once('connect', resolve);
			socket.once('error', reject);
		});
		socket.on('error', () => {});
		socket.on('data', (bytes: Buffer) => this.#read(bytes, monotonicMs()));
		socket.on('close', () => {
			if (this.#stage !== 'idle' && !this.run.isEnded) this.#fail('the connection closed');
		});
	}

	close(): void {
		this.#stage = 'idle';
		this.#socket?.destroy();
	}

	/** @param dueAt when the stream was to start */
	send(dueAt = monotonicMs()): void {
		this.#stage = 'first';
		this.#text = '';
		this.#measured = this.run.isMeasuring;
		if (this.#measured) this.run.result.started++;
		this.#sentAt = dueAt;
		this.#socket?.write(this.run.order.request, 'latin1');
	}

	#read(bytes: Buffer, now: number): void {
		// The mark of a token is one byte, so no chunk boundary can split it.
		let fresh = bytes.toString('latin1');
		if (this.#stage === 'first') {
			this.#text += fresh;
			const at = this.#text.indexOf(this.run.order.first);
			const times = at < 0 ? null : FIRST_TOKEN.exec(this.#text.slice(at));
			if (times === null) {
				if (!/^HTTP\/1.1 200 /.test(this.#text)) this.#fail(this.#text);
				else if (this.#text.includes('event: message.failed')) this.#fail(this.#text);
				return;
			}
			this.#recordFirstToken(Number(times[1]), Number(times[2]), now);
			fresh = this.#text.slice(at);
			this.#text = '';
			this.#stage = 'end';
		}
		if (this.#stage === 'end') this.#readTokens(fresh, now);
		else this.#text = (this.#text + fresh).slice(-TAIL_CHARS);
		if (this.#stage === 'framing' && this.#text.endsWith('0\r\n\r\n')) {
			this.#stage = 'idle';
			this.run.ended(this);
		}
	}

	#readTokens(fresh: string, now: number): void {
		const text = this.#text + fresh;
		const at = text.indexOf(this.run.order.end);
		if (at < 0) {
			if (text.includes('event: message.failed')) {
				this.#fail(text);
				return;
			}
			this.run.countTokens(fresh, fresh.length);
			this.#text = text.slice(-TAIL_CHARS);
			return;
		}
		this.run.countTokens(fresh, at - this.#text.length);
		if (this.#measured) this.run.result.wholeReplyMs.push(now - this.#sentAt);
		this.run.completed();
		this.#text = text.slice(-TAIL_CHARS);
		this.#stage = 'framing';
	}

	#recordFirstToken(askedAtMs: number, answeredAtMs: number, now: number): void {
		if (!this.#measured) return;
		const { firstTokenMs, toModelMs, fromModelMs } = this.run.result;
		firstTokenMs.push(now - this.#sentAt);
		toModelMs.push(askedAtMs - this.#sentAt);
		fromModelMs.push(now - answeredAtMs);
	}

	#fail(what: string): void {
		this.close();
		this.run.failed(this, what);
	}
}

class LoadRun {
	readonly result: StreamsResult = {
		seconds: 0,
		started: 0,
		completed: 0,
		failed: 0,
		firstFailure: null,
		tokens: 0,
		firstTokenMs: [],
		wholeReplyMs: [],
		toModelMs: [],
		fromModelMs: [],
	};
	isMeasuring = false;
	isEnded = false;
	#stopping = false;
	readonly #inFlight = new Set<Connection>();
	/** Connections that wait for an arrival. */
	readonly #free: Connection[] = [];

	constructor(readonly order: SustainCommand) {}

	async go(): Promise<StreamsResult> {
		const { streams, spreadMs, seconds } = this.order;
		const lines = Array.from({ length: streams }, () => new Connection(this));
		for (let at = 0; at < streams; at += MAX_CONCURRENT_CONNECTS) {
			await Promise.all(lines.slice(at, at + MAX_CONCURRENT_CONNECTS).map((line) => line.open()));
		}
		const { arrivalsPerSecond } = this.order;
		if (arrivalsPerSecond === null) await this.#begin(lines, spreadMs);
		else {
			this.#free.push(...lines);
			void this.#arrive(arrivalsPerSecond);
			await new Promise((resolve) => setTimeout(resolve, spreadMs));
		}
		const startedAt = monotonicMs();
		this.isMeasuring = true;
		await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
		// Streams of an overloaded server take so long that hardly any starts or ends within the time.
		const startUntil = startedAt + Math.max(seconds * 1000, MAX_RUN_MS);
		while (this.result.started < MIN_STREAMS && monotonicMs() < startUntil) {
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
		this.isMeasuring = false;
		this.result.seconds = (monotonicMs() - startedAt) / 1000;
		this.#stopping = true;
		const drainUntil = monotonicMs() + DRAIN_MS;
		while (this.#inFlight.size > 0 && monotonicMs() < drainUntil) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		this.isEnded = true;
		for (const line of lines) line.close();
		return this.result;
	}

	async #begin(lines: Connection[], spreadMs: number): Promise<void> {
		const startedAt = monotonicMs();
		for (let begun = 0; begun < lines.length; ) {
			const due = Math.min(lines.length, Math.floor(((monotonicMs() - startedAt) / spreadMs) * lines.length) + 1);
			for (; begun < due; begun++) {
				const line = lines[begun] as Connection;
				this.#inFlight.add(line);
				line.send();
			}
			await new Promise((resolve) => setTimeout(resolve, 1));
		}
		const rest = startedAt + spreadMs - monotonicMs();
		if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
	}

	/** Checks the clock in each turn of the event loop, because timers would send requests in bunches. */
	async #arrive(perSecond: number): Promise<void> {
		const startedAt = monotonicMs();
		for (let begun = 0; !this.#stopping; await new Promise(setImmediate)) {
			const due = Math.floor(((monotonicMs() - startedAt) / 1000) * perSecond);
			for (; begun < due && this.#free.length > 0; begun++) {
				const line = this.#free.pop() as Connection;
				this.#inFlight.add(line);
				line.send(startedAt + (begun / perSecond) * 1000);
			}
		}
	}

	countTokens(text: string, until: number): void {
		if (!this.isMeasuring) return;
		for (let at = 0; at < until; at++) if (text.charCodeAt(at) === TOKEN) this.result.tokens++;
	}

	completed(): void {
		if (this.isMeasuring) this.result.completed++;
	}

	ended(line: Connection): void {
		if (this.order.arrivalsPerSecond === null && !this.#stopping) {
			line.send();
			return;
		}
		this.#inFlight.delete(line);
		this.#free.push(line);
	}

	failed(line: Connection, what: string): void {
		this.result.failed++;
		this.result.firstFailure ??= what.slice(-500);
		this.#inFlight.delete(line);
	}
}

const heldSockets = new Set<Socket>();

async function hold({ port, hold: paths, headers }: HoldCommand): Promise<HeldStreams> {
	let firstFailure: string | null = null;
	for (let at = 0; at < paths.length; at += MAX_CONCURRENT_CONNECTS) {
		await Promise.all(
			paths.slice(at, at + MAX_CONCURRENT_CONNECTS).map(async (path) => {
				const socket = connect({ port, host: '127.0.0.1' });
				const begun = new Promise<string>((resolve, reject) => {
					socket.once('data', (bytes) => resolve(bytes.toString('latin1')));
					socket.once('error', reject);
					socket.once('close', () => reject(new Error('the connection closed')));
				});
				heldSockets.add(socket);
				socket.once('close', () => heldSockets.delete(socket));
				socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers.join('\r\n')}\r\n\r\n`);
				const answer = await begun.catch((error: Error) => error.message);
				if (answer.startsWith('HTTP/1.1 200 ')) return;
				firstFailure ??= answer.slice(0, 500);
				socket.destroy();
			}),
		);
	}
	return { ...count(), firstFailure };
}

function count(): HeldStreams {
	const bytes = [...heldSockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
	return { open: heldSockets.size, bytes, firstFailure: null };
}

function release(): HeldStreams {
	const counted = count();
	for (const socket of heldSockets) socket.destroy();
	return counted;
}

serveCommands(async (order: StreamsCommand): Promise<StreamsResult | HeldStreams> => {
	if ('count' in order) return count();
	if ('release' in order) return release();
	return 'hold' in order ? hold(order) : new LoadRun(order).go();
});
