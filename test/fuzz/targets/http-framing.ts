import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLog } from '../../../src/base/index.ts';
import { createHttpServer, type Route, type RouteResponse } from '../../../src/http/index.ts';
import { type ConnectionInput, connectionInput } from '../http/connection-bytes.ts';
import { cutAt } from '../http/packet-client.ts';
import { type ReferenceReading, readStrictly } from '../http/reference-parser.ts';
import { editBytes } from '../mutations/bytes.ts';
import type { FuzzSession, FuzzTarget } from '../target.ts';

/** Statuses of the HTTP library for heads that it rejects, besides 4xx. */
const LIBRARY_STATUSES = [505];
/** Requests on another connection that the server answers after it has read the bytes of the first. */
const ROUND_TRIPS = 3;
/** Bytes that are sent one by one; the rest is one packet. */
const MAX_SINGLE_BYTES = 2_000;
const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';

const bytesOf = ({ requests, changes }: ConnectionInput) =>
	changes.reduce<Buffer>(editBytes, Buffer.from(requests.join(''), 'latin1'));

/**
 * The bytes of a connection, well-formed or not, in any packets. Everything that runs is what a strict reader finds, in the same order;
 * well-formed requests are all answered, and other clients are not affected.
 */
export const httpFraming: FuzzTarget<ConnectionInput> = {
	name: 'http-framing',
	skip: false,
	shortRuns: 30,
	deadlineMs: 60_000,
	inputs: connectionInput,
	fileOf: (input) => ({ bytes: bytesOf(input), extension: 'http' }),
	open: openServer,
};

async function openServer(): Promise<FuzzSession<ConnectionInput>> {
	let ran: string[] = [];
	const describe = (method: string, path: string, body: unknown) => `${method} ${path} ${JSON.stringify(body) ?? ''}`;
	const routes: Route[] = [
		{ method: 'GET', path: '/next', handle: () => run('GET', '/next', undefined) },
		{
			method: 'POST',
			path: '/echo',
			handle: async (request) => run('POST', '/echo', await request.json()),
		},
	];
	function run(method: string, path: string, body: unknown): RouteResponse {
		const text = describe(method, path, body);
		ran.push(text);
		return { status: 200, headers: [['content-type', 'text/plain']], body: `ran ${text}\n` };
	}
	const server = createHttpServer({
		host: '127.0.0.1',
		port: 0,
		log: createLog('silent'),
		environment: process.env,
		routes,
		limits: { chunkedEndTimeoutMs: 20, lingeringCloseMs: 1_000 },
	});
	const { port } = await server.listen();

	/** What a reader of these requests runs. A request for another path, or with a body that is not JSON, runs nothing. */
	function expectedRuns({ requests }: ReferenceReading): Array<string | null> {
		return requests.map(({ method, path, contentType, body }) => {
			if (method === 'GET' && path === '/next') return describe('GET', '/next', undefined);
			if (method !== 'POST' || path !== '/echo') return null;
			if (body.length > 0 && !/^application\/json[ \t]*(?:$|;)/i.test(contentType)) return null;
			try {
				return describe(
					'POST',
					'/echo',
					body.length === 0 ? undefined : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)),
				);
			} catch {
				return null;
			}
		});
	}

	return {
		async run(input) {
			const bytes = bytesOf(input);
			const reading = readStrictly(bytes);
			const expected = expectedRuns(reading);
			ran = [];
			const client = new Client(port);
			await client.connected;
			const isInLine = (place: number) => reading.lines.some(([from, to]) => place > from && place < to);
			const all = placesOf(bytes, input.cuts);
			const places = input.cutsLines ? all : all.filter((place) => !isInLine(place));
			for (const packet of cutAt(bytes, places)) {
				client.socket.write(packet);
				await new Promise((resolve) => setImmediate(resolve));
			}
			// Whole requests without anything behind them are answered, unless the connection ends: then the last answer says why.
			if (reading.isClean && bytes.length > 0) await client.untilAnswered(reading.requests.length);
			const own = ran;
			const answered = new Client(port);
			for (let trip = 1; trip <= ROUND_TRIPS; trip++) {
				ran = [];
				answered.socket.write(NEXT);
				await answered.untilAnswered(trip);
				own.push(...ran.filter((_, at) => at !== ran.lastIndexOf(describe('GET', '/next', undefined))));
			}
			assert.equal(
				answered.statuses().filter((status) => status === 200).length,
				ROUND_TRIPS,
				'other clients are answered',
			);
			answered.socket.destroy();
			client.socket.destroy();
			checkRuns(own, expected, reading);
			checkStatuses(client.statuses(), own.length);
			// The HTTP library needs the first line of a request whole (docs/operations.md).
			if (reading.isClean && !places.some(isInLine))
				assert.equal(own.length, expected.filter((each) => each !== null).length);
		},
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
}

/** Asserts that nothing ran that a strict reader does not find, and nothing in another order. */
function checkRuns(
	ran: readonly string[],
	expected: Array<string | null>,
	{ endsInChunkedBody }: ReferenceReading,
): void {
	const wanted = expected.filter((each) => each !== null);
	// The HTTP library reads chunks laxly (docs/operations.md): the last request may run with what it found, and nothing after it.
	const compared = endsInChunkedBody ? ran.slice(0, wanted.length) : ran;
	assert.deepEqual(compared, wanted.slice(0, compared.length), 'only what a strict reader finds runs');
	if (endsInChunkedBody) assert.ok(ran.length <= wanted.length + 1, 'nothing runs behind a chunked body');
}

function checkStatuses(statuses: readonly number[], ran: number): void {
	const wrong = statuses.filter(
		(status) => status !== 200 && !(status >= 400 && status < 500) && !LIBRARY_STATUSES.includes(status),
	);
	assert.deepEqual(wrong, [], 'answers are right or say that the request is wrong');
	assert.ok(statuses.filter((status) => status === 200).length <= ran, 'each answer is of a request that ran');
}

/** Places of cuts in a connection's bytes. */
function placesOf(bytes: Buffer, cuts: ConnectionInput['cuts']): number[] {
	if (cuts === 'each') return Array.from({ length: Math.min(bytes.length, MAX_SINGLE_BYTES) }, (_, at) => at);
	return cuts.map((thousandths) => Math.floor((bytes.length * thousandths) / 1000));
}

/** A connection that counts the answers. */
class Client {
	readonly socket: Socket;
	readonly connected: Promise<unknown>;
	#text = '';
	#isClosed = false;
	#wake: () => void = () => {};

	constructor(port: number) {
		this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
		this.connected = once(this.socket, 'connect');
		this.socket.on('data', (bytes) => {
			this.#text += bytes.toString('latin1');
			this.#wake();
		});
		this.socket.on('error', () => {});
		this.socket.on('close', () => {
			this.#isClosed = true;
			this.#wake();
		});
	}

	/** The statuses of the answers, without the interim one of a request that expects it. Bodies never contain a status line at the beginning of a line. */
	statuses(): number[] {
		return [...this.#text.matchAll(/^HTTP\/1\.1 (?!100)(\d{3})/gm)].map(([, status]) => Number(status));
	}

	/** Resolves when so many answers have arrived, or the connection is closed. */
	async untilAnswered(count: number): Promise<void> {
		while (this.statuses().length < count && !this.#isClosed) {
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}
}
