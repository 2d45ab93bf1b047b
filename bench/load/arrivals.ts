import { connect, type Socket } from 'node:net';
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import { takeOrders } from './load-process.ts';

/**
 * A load generator as a process of its own: requests arrive at a fixed rate whether or not the answers before have come
 * (an open loop), and an answer's latency counts from the moment at which its request was due. So a server that stalls
 * is charged for everybody who would have waited meanwhile.
 */

/** What to send, told by the parent process in one message. */
export interface Order {
	port: number;
	path: string;
	/** Header lines of every request, without line ends. */
	headers: string[];
	/** Arrivals a second. */
	rate: number;
	seconds: number;
	connections: number;
}

/** What was seen. Latencies in milliseconds. */
export interface Outcome {
	rate: number;
	scheduled: number;
	/** Answers with status 200. */
	answered: number;
	/** Answers with another status, and requests that a broken connection lost. */
	failed: number;
	/** Arrivals that had not been answered within a second of the last one. */
	unanswered: number;
	p50: number;
	p95: number;
	p99: number;
	max: number;
}

/** How long after the last arrival answers are waited for. */
const GRACE_MS = 1000;
/** Visitors' addresses, as a proxy would pass them on: the server limits the requests of each. */
const VISITORS = 60_000;

class Line {
	socket: Socket;
	/** When the request that is under way was due; 0 where none is. */
	dueAt = 0;
	#tail = '';

	constructor(
		port: number,
		readonly run: Run,
	) {
		this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
		this.socket.on('data', (bytes) => this.#read(bytes.toString('latin1')));
		this.socket.on('error', () => {});
		this.socket.on('close', () => run.lost(this));
	}

	send(request: string, dueAt: number): void {
		this.dueAt = dueAt;
		this.socket.write(request, 'latin1');
	}

	#read(piece: string): void {
		this.#tail += piece;
		const headEnd = this.#tail.indexOf('\r\n\r\n');
		if (headEnd < 0) return;
		const length = /\r\ncontent-length: *(\d+)/i.exec(this.#tail.slice(0, headEnd));
		if (length === null) throw new Error(`An answer without Content-Length: ${this.#tail.slice(0, headEnd)}`);
		if (this.#tail.length < headEnd + 4 + Number(length[1])) return;
		const ok = this.#tail.startsWith('HTTP/1.1 200 ');
		this.#tail = '';
		this.run.answered(this, ok);
	}
}

class Run {
	readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
	readonly #free: Line[] = [];
	readonly #order: Order;
	readonly #requests: string[];
	#answered = 0;
	#failed = 0;
	#sent = 0;
	#over = false;

	constructor(order: Order) {
		this.#order = order;
		const lines = [`GET ${order.path} HTTP/1.1`, `Host: 127.0.0.1:${order.port}`, ...order.headers];
		this.#requests = Array.from({ length: VISITORS }, (_, visitor) => {
			const address = `198.18.${visitor >> 8}.${visitor & 255}`;
			return `${[...lines, `X-Forwarded-For: ${address}`].join('\r\n')}\r\n\r\n`;
		});
	}

	async go(): Promise<Outcome> {
		const { connections, port, rate, seconds } = this.#order;
		const lines = Array.from({ length: connections }, () => new Line(port, this));
		await Promise.all(lines.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
		this.#free.push(...lines);

		const scheduled = Math.round(rate * seconds);
		const gap = 1000 / rate;
		const startedAt = performance.now();
		const endsAt = startedAt + seconds * 1000 + GRACE_MS;
		// A turn of the loop per look at the clock: timers, with their millisecond, would make arrivals come in bunches.
		while (this.#answered + this.#failed < scheduled && performance.now() < endsAt) {
			const due = Math.min(scheduled, Math.floor((performance.now() - startedAt) / gap) + 1);
			while (this.#sent < due && this.#free.length > 0) {
				const line = this.#free.pop() as Line;
				line.send(this.#requests[this.#sent % VISITORS] as string, startedAt + this.#sent * gap);
				this.#sent++;
			}
			await new Promise(setImmediate);
		}
		this.#over = true;
		for (const { socket } of lines) socket.destroy();

		const at = (percentile: number) => this.#histogram.percentile(percentile) / 1000;
		return {
			rate,
			scheduled,
			answered: this.#answered,
			failed: this.#failed,
			unanswered: scheduled - this.#answered - this.#failed,
			p50: at(50),
			p95: at(95),
			p99: at(99),
			max: this.#histogram.max / 1000,
		};
	}

	answered(line: Line, ok: boolean): void {
		if (ok) this.#answered++;
		else this.#failed++;
		this.#histogram.record(Math.max(1, Math.round((performance.now() - line.dueAt) * 1000)));
		line.dueAt = 0;
		this.#free.push(line);
	}

	lost(line: Line): void {
		if (this.#over) return;
		if (line.dueAt !== 0) this.#failed++;
		const at = this.#free.indexOf(line);
		if (at >= 0) this.#free.splice(at, 1);
	}
}

takeOrders((order: Order) => new Run(order).go());
