import { connect, type Socket } from 'node:net';
import { serveCommands } from './load-process.ts';
import { percentileOf } from './spread.ts';

/**
 * A load of API requests as a separate process, over a fixed number of connections: each request once as fast as the server answers,
 * repeated for a time, or at a fixed arrival rate. At a rate, a latency counts from the moment at which the request was due, otherwise
 * from its sending.
 */

export interface RequestsCommand {
	port: number;
	/** The API key. */
	key: string;
	requests: { method: string; path: string; body?: unknown }[];
	connections: number;
	/** Duration; absent: each request once. */
	seconds?: number;
	/** Arrivals a second; absent: each connection sends as soon as it has its response. */
	rate?: number;
}

export interface RequestsResult {
	/** From the first request to the last response. */
	seconds: number;
	/** Responses with a status below 300. */
	answered: number;
	/** Other responses, and requests lost with their connection. */
	failed: number;
	/** Describes the first failure. */
	firstFailure: string | null;
	/** Milliseconds. */
	p50: number;
	p95: number;
}

/** Time to wait for responses after the last arrival. */
const GRACE_MS = 5_000;
const MAX_FAILURE_CHARS = 500;

class Connection {
	readonly #socket: Socket;
	readonly #run: LoadRun;
	#dueAt = 0;
	#tail = '';

	constructor(run: LoadRun) {
		this.#run = run;
		this.#socket = connect({ port: run.order.port, host: '127.0.0.1', noDelay: true });
		this.#socket.on('data', (bytes) => this.#read(bytes.toString('latin1')));
		this.#socket.on('error', () => {});
		this.#socket.on('close', () => run.connectionLost(this.#dueAt !== 0));
	}

	connected(): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#socket.once('connect', resolve);
			this.#socket.once('error', reject);
		});
	}

	send(request: string, dueAt: number): void {
		this.#dueAt = dueAt;
		this.#socket.write(request);
	}

	close(): void {
		this.#socket.destroy();
	}

	#read(piece: string): void {
		this.#tail += piece;
		const headEnd = this.#tail.indexOf('\r\n\r\n');
		if (headEnd < 0) return;
		const length = /\r\ncontent-length: *(\d+)/i.exec(this.#tail.slice(0, headEnd));
		if (length === null) throw new Error(`An answer without Content-Length: ${this.#tail.slice(0, headEnd)}`);
		if (this.#tail.length < headEnd + 4 + Number(length[1])) return;
		const response = this.#tail;
		this.#tail = '';
		const dueAt = this.#dueAt;
		this.#dueAt = 0;
		this.#run.responseReceived(this, response, performance.now() - dueAt);
	}
}

class LoadRun {
	readonly #free: Connection[] = [];
	readonly #texts: string[];
	readonly #latencies: number[] = [];
	#firstFailure: string | null = null;
	#sent = 0;
	#answered = 0;
	#failed = 0;
	#isEnded = false;

	constructor(readonly order: RequestsCommand) {
		this.#texts = order.requests.map(({ method, path, body }) => {
			const json = body === undefined ? '' : JSON.stringify(body);
			const head = [
				`${method} ${path} HTTP/1.1`,
				`Host: 127.0.0.1:${order.port}`,
				`Authorization: Bearer ${order.key}`,
				...(body === undefined ? [] : ['Content-Type: application/json']),
				...(method === 'GET' ? [] : [`Content-Length: ${Buffer.byteLength(json)}`]),
			];
			return `${head.join('\r\n')}\r\n\r\n${json}`;
		});
	}

	async go(): Promise<RequestsResult> {
		const { connections, seconds, rate } = this.order;
		const lines = Array.from({ length: connections }, () => new Connection(this));
		await Promise.all(lines.map((line) => line.connected()));
		this.#free.push(...lines);
		const startedAt = performance.now();
		const until = startedAt + (seconds ?? Number.POSITIVE_INFINITY) * 1000;
		const maxRequests =
			seconds === undefined
				? this.#texts.length
				: rate === undefined
					? Number.POSITIVE_INFINITY
					: Math.round(rate * seconds);
		// Checks the clock in each turn of the event loop: timers have a resolution of a millisecond and would send requests in bunches.
		for (;;) {
			const now = performance.now();
			if (this.#sent >= maxRequests || (rate === undefined && now >= until) || now >= until + GRACE_MS) break;
			const due =
				rate === undefined ? maxRequests : Math.min(maxRequests, Math.floor(((now - startedAt) / 1000) * rate) + 1);
			while (this.#sent < due && this.#free.length > 0) {
				const line = this.#free.pop() as Connection;
				const text = this.#texts[this.#sent % this.#texts.length] as string;
				line.send(text, rate === undefined ? performance.now() : startedAt + (this.#sent * 1000) / rate);
				this.#sent++;
			}
			await new Promise(setImmediate);
		}
		const endsAt = performance.now() + GRACE_MS;
		while (this.#answered + this.#failed < this.#sent && performance.now() < endsAt) await new Promise(setImmediate);
		const tookMs = performance.now() - startedAt;
		this.#isEnded = true;
		for (const line of lines) line.close();
		return {
			seconds: tookMs / 1000,
			answered: this.#answered,
			failed: (Number.isFinite(maxRequests) ? maxRequests : this.#sent) - this.#answered,
			firstFailure: this.#firstFailure,
			p50: percentileOf(this.#latencies, 0.5),
			p95: percentileOf(this.#latencies, 0.95),
		};
	}

	responseReceived(line: Connection, response: string, ms: number): void {
		if (/^HTTP\/1.1 2/.test(response)) {
			this.#answered++;
		} else {
			this.#failed++;
			this.#firstFailure ??= response.slice(0, MAX_FAILURE_CHARS);
		}
		this.#latencies.push(ms);
		this.#free.push(line);
	}

	connectionLost(inFlight: boolean): void {
		if (this.#isEnded || !inFlight) return;
		this.#failed++;
		this.#firstFailure ??= 'the connection closed';
	}
}

serveCommands((order: RequestsCommand) => new LoadRun(order).go());
