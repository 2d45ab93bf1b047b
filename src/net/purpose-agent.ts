import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { limitResponses } from './response-limit.ts';
import type { SsrfGuard } from './ssrf-guard.ts';

/**
 * Connections to one origin, which often hosts the URLs of many workspaces. The deadline of a request runs while it waits
 * for a connection, perhaps behind the slow URL of another workspace. So each purpose has connections of its own. The
 * callers bound the number of posts and key sets, so none waits here. Documents are limited to a few at a time to spare the
 * website.
 */
const CONNECTIONS_PER_ORIGIN = {
	document: 8,
	key_set: 1_024,
	post: 1_024,
	// Streams may stay open for long.
	stream: 4_096,
} as const;

/** What a request is for. */
export type Purpose = keyof typeof CONNECTIONS_PER_ORIGIN;

/**
 * Bytes of one response that are read, including heads and framing. The limits for bodies are lower; callers give them.
 * Streams have no limit.
 */
const MAX_RESPONSE_BYTES: Record<Purpose, number> = {
	document: 64 * 1024 * 1024,
	key_set: 2 * 1024 * 1024,
	post: 66 * 1024,
	stream: Number.POSITIVE_INFINITY,
};

/** With more open connections for one purpose than this, further ones are closed after one use. */
const MAX_IDLE_CONNECTIONS = 1_000;

/** Limits for the connections of one purpose. */
export interface PurposeAgentOptions {
	maxIdleMs: number;
	/** Connections to all servers together. Further requests are refused at once. */
	maxConnections: number;
	/** Connections to all servers together that may be kept for the next request. */
	maxIdleConnections?: number | undefined;
}

/** Makes an agent whose connections the guard opens. */
export function createPurposeAgent(guard: SsrfGuard, purpose: Purpose, options: PurposeAgentOptions): Dispatcher {
	const { maxIdleMs, maxConnections } = options;
	const maxIdleConnections = Math.min(options.maxIdleConnections ?? MAX_IDLE_CONNECTIONS, maxConnections / 2);
	/** Connections that are open or being opened. */
	let connections = 0;
	const connect: buildConnector.connector = (target, callback) => {
		if (connections >= maxConnections) {
			callback(tooManyConnections(), null);
			return;
		}
		connections++;
		guard.connect(target, (...result) => {
			const [error, socket] = result;
			if (error === null) {
				socket.once('close', () => connections--);
				// A stream has no limit, and its request may be written in pieces.
				if (purpose !== 'stream') limitResponses(socket, MAX_RESPONSE_BYTES[purpose]);
			} else connections--;
			callback(...result);
		});
	};
	const agent = new Agent({
		connect,
		connections: CONNECTIONS_PER_ORIGIN[purpose],
		pipelining: 1,
		keepAliveTimeout: Math.min(4_000, maxIdleMs),
		keepAliveMaxTimeout: maxIdleMs,
	});
	return agent.compose((dispatch) => (request, handler) => {
		return dispatch(connections > maxIdleConnections ? { ...request, reset: true } : request, handler);
	});
}

function tooManyConnections(): AppError {
	const sentence = 'This server has too many connections to other servers open. Try again later.';
	return new AppError('unavailable', sentence, { retry_after: 5 });
}
