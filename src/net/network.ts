import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { type Download, type DownloadOptions, download } from './download.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { type PostOptions, type PostOutcome, post } from './post.ts';
import { limitResponses } from './response-limit.ts';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from './service-client.ts';
import { createSsrfGuard, type SsrfGuardOptions, type UrlRules } from './ssrf-guard.ts';

/** The one way out of this server. */
export interface Network extends AsyncDisposable {
	/**
	 * Judges what can be told of a URL without asking the network.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/**
	 * Fetches a file.
	 * @throws AppError `url_not_allowed` (the guard) or `unreadable_file` (everything else)
	 */
	download(url: string, options?: DownloadOptions): Promise<Download>;
	/** Sends a POST, once; whatever comes of it, no answer included, is its outcome. Rejects only as its signal says. */
	post(url: string, options: PostOptions): Promise<PostOutcome>;
	/**
	 * For libraries that speak HTTP through a fetch, and for answers that are read as they come. Follows no redirect; bounded
	 * by its signal alone.
	 * @throws AppError `url_not_allowed` (the guard) or `unavailable` (no answer); the signal's reason
	 */
	fetch(url: string | URL, init?: RequestInit, rules?: UrlRules): Promise<Response>;
	/**
	 * Opens the way to a service that the operator named, which may have a private address. It ends with this network at the
	 * latest.
	 * @param baseUrl an http or https URL from the settings, never one from a request
	 */
	serviceClient(baseUrl: string, options?: ServiceClientOptions): ServiceClient;
	/**
	 * For undici's own functions. Connects to judged addresses only, whatever it is given; schemes and redirects are the
	 * user's part (`request` follows none).
	 */
	readonly dispatcher: Dispatcher;
}

/**
 * Connections to one origin, which is often the host of many workspaces' URLs. Whoever waits for one spends its deadline
 * waiting, perhaps behind what somebody else's slow URL holds up: so each purpose has its own. Of posts and key sets, how
 * many are under way is bounded where they are asked for, and none waits here; documents, which are fetched a few at a
 * time, do not press upon a website.
 */
const CONNECTIONS_PER_ORIGIN = {
	document: 8,
	key_set: 1_024,
	post: 1_024,
	// Of answers that are streams and may stay open for long.
	stream: 4_096,
} as const;

type Purpose = keyof typeof CONNECTIONS_PER_ORIGIN;

/**
 * Bytes of one answer that are read, its heads and all that is wrapped around its body included. Of the bodies themselves
 * less is read, as whoever asks says. Streams may go on for as long as they like.
 */
const MAX_RESPONSE_BYTES: Record<Purpose, number> = {
	document: 64 * 1024 * 1024,
	key_set: 2 * 1024 * 1024,
	post: 66 * 1024,
	stream: Number.POSITIVE_INFINITY,
};

/** Streams of one endpoint at the same time. */
const ENDPOINT_CONNECTIONS = 2_000;
/** An idle connection is kept for as long as its server says (4 seconds where it does not), but no longer. */
const MAX_IDLE_MS = 10_000;
/** Beyond so many open connections for one purpose, the next ones are closed once they have been used. */
const MAX_IDLE_CONNECTIONS = 1_000;

export interface NetworkOptions extends SsrfGuardOptions {
	/** Milliseconds that an idle connection is kept at most, whatever its server says. */
	maxIdleMs?: number;
	/** Connections for one purpose, to whatever servers, that may be kept for the next request. */
	maxIdleConnections?: number;
	/** Connections to one endpoint; what asks for more waits. Default: as the endpoint says. */
	endpointConnections?: number;
	/** Connections of `fetch`, to whatever servers; one more is refused at once. Default: no limit. */
	fetchConnections?: number;
}

/** Opens the way out; disposal ends every connection. */
export function createNetwork(options: NetworkOptions): Network {
	const { maxIdleMs = MAX_IDLE_MS, fetchConnections = Number.POSITIVE_INFINITY } = options;
	const { endpointConnections = Number.POSITIVE_INFINITY } = options;
	const guard = createSsrfGuard(options);
	function agentFor(purpose: Purpose): Dispatcher {
		const most = purpose === 'stream' ? fetchConnections : Number.POSITIVE_INFINITY;
		const keptConnections = Math.min(options.maxIdleConnections ?? MAX_IDLE_CONNECTIONS, most / 2);
		/** Or being opened. */
		let open = 0;
		const connect: buildConnector.connector = (target, callback) => {
			if (open >= most) {
				callback(tooManyConnections(), null);
				return;
			}
			open++;
			guard.connect(target, (...result) => {
				const [error, socket] = result;
				if (error === null) {
					socket.once('close', () => open--);
					// Of a stream also the request may come in pieces.
					if (purpose !== 'stream') limitResponses(socket, MAX_RESPONSE_BYTES[purpose]);
				} else open--;
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
		const exceedsIdleLimit = () => open > keptConnections;
		return agent.compose((dispatch) => (request, handler) => {
			return dispatch(exceedsIdleLimit() ? { ...request, reset: true } : request, handler);
		});
	}
	const agents = {
		document: agentFor('document'),
		key_set: agentFor('key_set'),
		post: agentFor('post'),
		stream: agentFor('stream'),
	};
	const endpoints = new Set<ServiceClient>();
	return {
		checkUrl: guard.checkUrl,
		download: (url, rules) => download(guard, agents[rules?.purpose ?? 'document'], url, rules),
		post: (url, options) => post(guard, agents.post, url, options),
		fetch: (url, init = {}, rules) => guardedFetch(guard, agents.stream, url, init, rules),
		serviceClient(baseUrl, rules) {
			const connections = Math.min(rules?.connections ?? ENDPOINT_CONNECTIONS, endpointConnections);
			const client = createServiceClient(baseUrl, { ...rules, connections });
			const endpoint: ServiceClient = {
				fetch: client.fetch,
				async [Symbol.asyncDispose]() {
					endpoints.delete(endpoint);
					await client[Symbol.asyncDispose]();
				},
			};
			endpoints.add(endpoint);
			return endpoint;
		},
		dispatcher: agents.document,
		async [Symbol.asyncDispose]() {
			const client = [...endpoints].map((endpoint) => endpoint[Symbol.asyncDispose]());
			await Promise.all([...Object.values(agents).map((agent) => agent.destroy()), ...client]);
		},
	};
}

function tooManyConnections(): AppError {
	const sentence = 'This server has too many connections to other servers open. Try again later.';
	return new AppError('unavailable', sentence, { retry_after: 5 });
}
