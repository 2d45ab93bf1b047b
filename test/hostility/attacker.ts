// A process that attacks a server. The program beside it tells it how, by the orders below.
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveCommands } from '../../bench/load/load-process.ts';

/** A request as text. It may have a part that is too long to be sent from process to process. */
export interface FloodRequest {
	head: string;
	/** Bytes between the head and the tail. They are sent at about 32 MB/s. */
	fillerBytes?: number;
	tail?: string;
}

/** An order of the parent process. */
export type AttackOrder =
	/** Opens connections that send their requests, one each, in turn, and that read nothing if they are `stalled`. */
	| { hold: number; port: number; requests: string[]; stalled: boolean; dripMs: number | null }
	/**
	 * Sends a request on each of some connections again and again; opens another where one is closed. Goes on after the seconds until an
	 * answer has one of the expected statuses, and as many connections were closed as must be: a busy machine takes longer to exceed a limit.
	 */
	| {
			flood: FloodRequest;
			port: number;
			connections: number;
			seconds: number;
			expected: readonly number[];
			leastClosed: number;
	  }
	/** Tells what the connections have got by now. */
	| { report: true }
	/** Closes all connections, and forgets what they have got. */
	| { release: true };

export interface AttackResult {
	/** Connections that were open at once at the end of the order. */
	open: number;
	/** Connections that the server has closed, or that could not be opened. */
	closed: number;
	/** Answers by status. */
	statuses: Record<string, number>;
}

/** Connections that are opened at the same time: more would overflow the queue of the listening socket. */
const CONCURRENT_CONNECTS = 100;
/** A long request is sent in such pieces. At full speed, four of them send 1 Gbit/s. */
const PIECE_BYTES = 256 * 1024;
const PIECE_MS = 8;
/** A flood ends after this time, whatever it was answered. */
const FLOOD_LIMIT_MS = 90_000;

// Attackers have machines of their own: on this one they must not take the processor from the server and the honest clients.
setPriority(constants.priority.PRIORITY_LOW);

const sockets = new Set<Socket>();
let closed = 0;
let statuses: Record<string, number> = {};

function countStatuses(text: string): void {
	for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) statuses[status] = (statuses[status] ?? 0) + 1;
}

function open(port: number): Promise<Socket | null> {
	return new Promise((resolve) => {
		const socket = connect({ port, host: '127.0.0.1', noDelay: true });
		sockets.add(socket);
		socket.once('connect', () => resolve(socket));
		socket.on('error', () => {});
		socket.once('close', () => {
			sockets.delete(socket);
			closed++;
			resolve(null);
		});
	});
}

async function hold({
	hold: count,
	port,
	requests,
	stalled,
	dripMs,
}: Extract<AttackOrder, { hold: number }>): Promise<void> {
	const openOne = async (index: number) => {
		const socket = await open(port);
		if (socket === null) return;
		if (stalled) socket.pause();
		else socket.on('data', (bytes) => countStatuses(bytes.toString('latin1')));
		const request = requests[index % Math.max(1, requests.length)] ?? '';
		if (dripMs === null) socket.write(request);
		else drip(socket, request, dripMs);
	};
	for (let from = 0; from < count; from += CONCURRENT_CONNECTS) {
		const size = Math.min(CONCURRENT_CONNECTS, count - from);
		await Promise.all(Array.from({ length: size }, (_, at) => openOne(from + at)));
	}
}

/** Sends a byte at a time, beginning with the first half at once. */
function drip(socket: Socket, text: string, everyMs: number): void {
	let at = Math.floor(text.length / 2);
	socket.write(text.slice(0, at));
	const timer = setInterval(() => {
		if (socket.destroyed || at >= text.length) clearInterval(timer);
		else socket.write(text[at++] as string);
	}, everyMs);
}

async function flood({
	flood: { head, fillerBytes = 0, tail = '' },
	port,
	connections,
	seconds,
	expected,
	leastClosed,
}: Extract<AttackOrder, { flood: FloodRequest }>): Promise<void> {
	const begun = performance.now();
	const piece = Buffer.alloc(PIECE_BYTES, 'x');
	const isOver = () => {
		const elapsed = performance.now() - begun;
		const isAnswered = expected.length === 0 || expected.some((status) => status in statuses);
		const isSatisfied = isAnswered && closed >= leastClosed;
		return elapsed >= FLOOD_LIMIT_MS || (elapsed >= seconds * 1000 && isSatisfied);
	};
	const send = async (socket: Socket) => {
		socket.write(head);
		if (fillerBytes === 0) return;
		for (let left = fillerBytes; left > 0 && !socket.destroyed; left -= PIECE_BYTES) {
			socket.write(piece.subarray(0, Math.min(left, PIECE_BYTES)));
			await sleep(PIECE_MS);
			while (socket.writableNeedDrain && !socket.destroyed) await sleep(PIECE_MS);
		}
		socket.write(tail);
	};
	const one = async () => {
		while (!isOver()) {
			const socket = await open(port);
			if (socket === null) {
				await sleep(10);
				continue;
			}
			let isSending = false;
			const sendNext = async () => {
				isSending = true;
				await send(socket);
				isSending = false;
			};
			socket.on('data', (bytes) => {
				const text = bytes.toString('latin1');
				countStatuses(text);
				// A request that is answered before its end cannot be followed by another.
				if (isOver() || isSending) socket.destroy();
				else if (text.includes('HTTP/1.1 ')) void sendNext();
			});
			void sendNext();
			while (!socket.destroyed && !isOver()) await sleep(20);
			socket.destroy();
		}
	};
	await Promise.all(Array.from({ length: connections }, one));
}

async function release(): Promise<void> {
	for (const socket of sockets) socket.destroy();
	while (sockets.size > 0) await sleep(5);
	closed = 0;
	statuses = {};
}

serveCommands<AttackOrder, AttackResult>(async (order) => {
	if ('hold' in order) await hold(order);
	else if ('flood' in order) await flood(order);
	else if ('release' in order) await release();
	return { open: sockets.size, closed, statuses };
});
