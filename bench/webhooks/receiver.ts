import * as uWS from 'uWebSockets.js';
import { serveCommands } from '../load/load-process.ts';

/**
 * The receiver of a bench's deliveries, as a separate process with as little work as possible. Below `/fast` it answers at once and
 * records the age of the event. Below `/hang` it never answers.
 */

/** A command of the parent process. */
export type ReceiverCommand =
	| { listen: true }
	/** Resets the count. */
	| { forget: true }
	/** Waits until a number has arrived since the reset, for at most a time (ms). */
	| { expect: number; withinMs: number };

export interface ArrivalCount {
	port: number;
	count: number;
	/** Milliseconds between the first and the last one. */
	ms: number;
	/** Milliseconds from each event's time to its arrival. */
	ages: number[];
}

const BEFORE_TIME = '"created_at":"';
const TIME_LENGTH = '2026-11-20T12:00:00.000Z'.length;
const POLL_INTERVAL_MS = 2;

let port = 0;
let ages: number[] = [];
let first = 0;
let last = 0;

/** The current time by the clock of the events' times, with fractions. */
const now = () => performance.timeOrigin + performance.now();

function recordArrival(body: string): void {
	const at = body.indexOf(BEFORE_TIME) + BEFORE_TIME.length;
	last = now();
	if (ages.length === 0) first = last;
	ages.push(last - Date.parse(body.slice(at, at + TIME_LENGTH)));
}

function receive(res: uWS.HttpResponse): void {
	let body = '';
	let gone = false;
	res.onAborted(() => {
		gone = true;
	});
	res.onData((chunk, isLast) => {
		body += Buffer.from(chunk).toString('latin1');
		if (!isLast) return;
		recordArrival(body);
		if (!gone) res.cork(() => res.writeStatus('204 No Content').endWithoutBody());
	});
}

function hang(res: uWS.HttpResponse): void {
	res.onAborted(() => {});
	res.onData(() => {});
}

function listen(): Promise<void> {
	return new Promise((resolve, reject) => {
		uWS
			.App()
			.post('/fast/*', receive)
			.post('/hang/*', hang)
			.listen('127.0.0.1', 0, (socket) => {
				if (!socket) return reject(new Error('The receiver cannot listen.'));
				port = uWS.us_socket_local_port(socket);
				resolve();
			});
	});
}

serveCommands(async (order: ReceiverCommand): Promise<ArrivalCount> => {
	if ('listen' in order) await listen();
	else if ('forget' in order) ages = [];
	else {
		const deadline = now() + order.withinMs;
		while (ages.length < order.expect && now() < deadline) {
			await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
		}
	}
	return { port, count: ages.length, ms: last - first, ages: 'expect' in order ? ages : [] };
});
