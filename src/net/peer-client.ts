import type { Readable } from 'node:stream';
import { Agent, errors, request } from 'undici';
import { rejectOnAbort } from '../base/index.ts';

/** A request to another node of the cluster. */
export interface PeerRequest {
	/** Host and port. */
	address: string;
	method: string;
	/** With the query string. */
	path: string;
	/** By lower-case name. */
	headers: Record<string, string>;
	body: Uint8Array | null;
	/** Ends the request, and the body of its response. */
	signal: AbortSignal;
}

export interface PeerResponse {
	status: number;
	/** In order; names in lower case. */
	headers: [name: string, value: string][];
	/** With back-pressure up to the other node. */
	body: Readable;
}

/** A request to another node has failed. */
export class PeerError extends Error {
	/** Whether the other node has certainly not seen it. */
	readonly isUnsent: boolean;

	constructor(address: string, cause: unknown, isUnsent: boolean) {
		super(`The node at ${address} did not answer.`, { cause });
		this.name = 'PeerError';
		this.isUnsent = isUnsent;
	}
}

/** Nodes are near each other. */
const CONNECT_TIMEOUT_MS = 1_000;
const MAX_IDLE_MS = 30_000;
/** The other node sends heartbeats in streams. */
const BODY_IDLE_MS = 60_000;
/** The request's own signal is the time limit for the head. */
const HEAD_TIMEOUT_MS = 20 * 60_000;

/** Connections to the other nodes of the cluster. Their addresses are from the database, never from a request. */
export class PeerClient implements AsyncDisposable {
	readonly #agent = new Agent({
		connect: { timeout: CONNECT_TIMEOUT_MS },
		keepAliveTimeout: MAX_IDLE_MS,
		keepAliveMaxTimeout: MAX_IDLE_MS,
		headersTimeout: HEAD_TIMEOUT_MS,
		bodyTimeout: BODY_IDLE_MS,
	});

	/**
	 * Sends a request and waits for the head of the response.
	 * @throws PeerError; the reason of the signal
	 */
	async send({ address, method, path, headers, body, signal }: PeerRequest): Promise<PeerResponse> {
		try {
			const sent = request(`http://${address}${path}`, {
				...{ dispatcher: this.#agent, headers, body, signal },
				method: method as 'GET',
			});
			// undici observes the signal only once there is a connection.
			const response = await rejectOnAbort(sent, signal);
			return { status: response.statusCode, headers: pairsOf(response.headers), body: response.body };
		} catch (error) {
			signal.throwIfAborted();
			throw new PeerError(address, error, isConnectError(error));
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#agent.destroy();
	}
}

/** Whether no connection was made. An established one can fail with the same codes. */
function isConnectError(error: unknown): boolean {
	// One error for each address of a host name.
	if (error instanceof AggregateError) return error.errors.every(isConnectError);
	const { syscall = '' } = error as NodeJS.ErrnoException;
	return error instanceof errors.ConnectTimeoutError || syscall === 'connect' || syscall === 'getaddrinfo';
}

function pairsOf(headers: Record<string, string | string[] | undefined>): [string, string][] {
	return Object.entries(headers).flatMap(([name, value]) =>
		[value ?? []].flat().map((one): [string, string] => [name.toLowerCase(), one]),
	);
}
