import { connect, type Socket } from 'node:net';
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import { serveCommands } from './load-process.ts';

/**
 * A load generator as a separate process. Requests arrive at a fixed rate whether or not earlier ones are answered (an open loop), and
 * a latency counts from the moment at which the request was due. So a stall counts for every request that was due during it. Without
 * a rate, to find the highest rate of a server, each free connection sends the next request at once.
 */

/** What to send. The parent process sends it in one message. */
export interface LoadCommand {
	port: number;
	/** Paths to request in turn. */
	paths: string[];
	/** Header lines of every request, without line ends. */
	headers: string[];
	/** Arrivals a second; null: as many as the server answers. */
	rate: number | null;
	seconds: number;
	connections: number;
}

/** Results. Latencies are in milliseconds and have no meaning without a rate. */
export interface LoadResult {
	/** Arrivals; without a rate the requests that were sent. */
	scheduled: number;
	/** Responses with status 200. */
	answered: number;
	/** Responses with another status, and requests lost with their connection. */
	failed: number;
	/** Arrivals that were not answered within a second after the last one. */
	unanswered: number;
	/** From the first arrival to the last response. */
	seconds: number;
	p50: number;
	p95: number;
	p99: number;
	max: number;
}

/** Time to wait for responses after the last arrival. */
const GRACE_MS = 1000;
/** Visitors' addresses, as a proxy forwards them: the server limits the requests of each. */
const VISITORS = 60_000;
/** Longer than any response here. */
const BUFFER_BYTES = 16 * 1024;

/** A connection that sends one request at a time. */
class Connection {
	readonly socket: Socket;
	/** When the request in flight was due; 0 if there is none. */
	dueAt = 0;
	readonly #run: LoadRun;
	readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
	/** The received part of a response. */
	#tail = '';

	constructor(port: number, run: LoadRun) {
		this.#run = run;
		// The stream's own buffers, one for each chunk, would cost as much as everything else.
		const onread = { buffer: this.#buffer, callback: (bytes: number) => this.#read(bytes) };
		this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
		this.socket.on('error', () => {});
		this.socket.on('close', () => run.connectionLost(this));
	}

	send(request: string, dueAt: number): void {
		this.dueAt = dueAt;
		this.socket.write(request, 'latin1');
	}

	/** Complete responses of the same length as the last one are recognised by length. Only others are parsed. */
	#read(bytes: number): boolean {
		if (this.dueAt === 0) throw new Error('A response came without a request.');
		if (this.#tail === '' && bytes === this.#run.usualBytes && this.#isOk()) this.#run.responseReceived(this, true);
		else this.#readOn(this.#buffer.toString('latin1', 0, bytes));
		return true;
	}

	#readOn(piece: string): void {
		this.#tail += piece;
		const headEnd = this.#tail.indexOf('\r\n\r\n');
		if (headEnd < 0) return;
		const length = /\r\ncontent-length: *(\d+)/i.exec(this.#tail.slice(0, headEnd));
		if (length === null) throw new Error(`An answer without Content-Length: ${this.#tail.slice(0, headEnd)}`);
		const bytes = headEnd + 4 + Number(length[1]);
		if (this.#tail.length < bytes) return;
		const ok = this.#tail.startsWith('HTTP/1.1 200 ');
		this.#tail = '';
		if (ok) this.#run.usualBytes = bytes;
		this.#run.responseReceived(this, ok);
	}

	/** Whether the received bytes start with `HTTP/1.1 200`. */
	#isOk(): boolean {
		return this.#buffer[9] === 50 && this.#buffer[10] === 48 && this.#buffer[11] === 48;
	}
}

/** Requests sent so far: each load continues in the list of paths where the previous one stopped. */
let nextRequest = 0;

class LoadRun {
	readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
	readonly #free: Connection[] = [];
	readonly #order: LoadCommand;
	readonly #requests: string[];
	#answered = 0;
	#failed = 0;
	#sent = 0;
	#isEnded = false;
	/** The length of the last valid response. */
	usualBytes = 0;

	constructor(order: LoadCommand) {
		this.#order = order;
		const lines = [`Host: 127.0.0.1:${order.port}`, ...order.headers];
		// All requests are built in advance, so that building strings is not measured.
		this.#requests = Array.from({ length: Math.max(VISITORS, order.paths.length) }, (_, index) => {
			const path = order.paths[index % order.paths.length] as string;
			const visitor = index % VISITORS;
			const address = `198.18.${visitor >> 8}.${visitor & 255}`;
			const request = [`GET ${path} HTTP/1.1`, ...lines, `X-Forwarded-For: ${address}`].join('\r\n');
			return Buffer.from(`${request}\r\n\r\n`, 'latin1').toString('latin1');
		});
	}

	async go(): Promise<LoadResult> {
		const { connections, port, rate, seconds } = this.#order;
		const lines = Array.from({ length: connections }, () => new Connection(port, this));
		await Promise.all(lines.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
		this.#free.push(...lines);

		const startedAt = performance.now();
		await (rate === null ? this.#saturate(startedAt) : this.#arrive(rate, startedAt));
		const took = (performance.now() - startedAt) / 1000;
		this.#isEnded = true;
		for (const { socket } of lines) socket.destroy();

		const scheduled = rate === null ? this.#sent : Math.round(rate * seconds);
		const at = (percentile: number) => this.#histogram.percentile(percentile) / 1000;
		return {
			scheduled,
			answered: this.#answered,
			failed: this.#failed,
			unanswered: scheduled - this.#answered - this.#failed,
			seconds: took,
			p50: at(50),
			p95: at(95),
			p99: at(99),
			max: this.#histogram.max / 1000,
		};
	}

	async #arrive(rate: number, startedAt: number): Promise<void> {
		const { seconds } = this.#order;
		const scheduled = Math.round(rate * seconds);
		const gap = 1000 / rate;
		const endsAt = startedAt + seconds * 1000 + GRACE_MS;
		// Checks the clock in each turn of the event loop: timers have a resolution of a millisecond and would send requests in bunches.
		while (this.#answered + this.#failed < scheduled && performance.now() < endsAt) {
			const due = Math.min(scheduled, Math.floor((performance.now() - startedAt) / gap) + 1);
			while (this.#sent < due && this.#free.length > 0) this.#send(startedAt + this.#sent * gap);
			await new Promise(setImmediate);
		}
	}

	async #saturate(startedAt: number): Promise<void> {
		const endsAt = startedAt + this.#order.seconds * 1000;
		for (let now = startedAt; now < endsAt; now = performance.now()) {
			while (this.#free.length > 0) this.#send(now);
			await new Promise(setImmediate);
		}
	}

	#send(dueAt: number): void {
		const line = this.#free.pop() as Connection;
		line.send(this.#requests[nextRequest++ % this.#requests.length] as string, dueAt);
		this.#sent++;
	}

	responseReceived(line: Connection, ok: boolean): void {
		if (ok) this.#answered++;
		else this.#failed++;
		this.#histogram.record(Math.max(1, Math.round((performance.now() - line.dueAt) * 1000)));
		line.dueAt = 0;
		this.#free.push(line);
	}

	connectionLost(line: Connection): void {
		if (this.#isEnded) return;
		if (line.dueAt !== 0) this.#failed++;
		const at = this.#free.indexOf(line);
		if (at >= 0) this.#free.splice(at, 1);
	}
}

serveCommands((order: LoadCommand) => new LoadRun(order).go());
