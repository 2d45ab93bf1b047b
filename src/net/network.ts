import type { Dispatcher } from 'undici';
import { type Download, type DownloadOptions, download } from './download.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { type PostOptions, type PostOutcome, post } from './post.ts';
import { createPurposeAgent, type Purpose } from './purpose-agent.ts';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from './service-client.ts';
import { createSsrfGuard, type SsrfGuardOptions, type UrlRules } from './ssrf-guard.ts';

/** Every outgoing connection of this server is made here. */
export interface Network extends AsyncDisposable {
	/**
	 * Checks a URL as far as possible without a request to the network.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/**
	 * Fetches a file.
	 * @throws AppError `url_not_allowed` from the guard, `unreadable_file` for every other failure
	 */
	download(url: string, options?: DownloadOptions): Promise<Download>;
	/** Sends a POST once. A failure is an outcome too. Rejects only with the reason of the signal. */
	post(url: string, options: PostOptions): Promise<PostOutcome>;
	/**
	 * For libraries that use a fetch, and for responses that are read as a stream. Follows no redirect. Only the signal bounds
	 * it.
	 * @throws AppError `url_not_allowed` from the guard, `unavailable` without a response; the signal's reason
	 */
	fetch(url: string | URL, init?: RequestInit, rules?: UrlRules): Promise<Response>;
	/**
	 * Makes a client of a service that the operator configured, which may have a private address. Disposal of the network
	 * disposes of it.
	 * @param baseUrl an http or https URL from the settings, never one from a request
	 */
	serviceClient(baseUrl: string, options?: ServiceClientOptions): ServiceClient;
}

/** Concurrent streams of one service. */
const SERVICE_CONNECTIONS = 2_000;
/** An idle connection is kept as long as its server allows (4 seconds by default), but at most this long. */
const MAX_IDLE_MS = 10_000;

export interface NetworkOptions extends SsrfGuardOptions {
	/** Milliseconds that an idle connection is kept at most, even if its server allows more. */
	maxIdleMs?: number;
	/** Connections for one purpose, to all servers together, that may be kept for the next request. */
	maxIdleConnections?: number;
	/** Connections to one service; further requests wait. Default: the option of the service client. */
	serviceConnections?: number;
	/** Connections of `fetch`, to all servers together; further requests are refused at once. Default: no limit. */
	fetchConnections?: number;
}

/** Makes the network; disposal closes every connection. */
export function createNetwork(options: NetworkOptions): Network {
	const { maxIdleMs = MAX_IDLE_MS, fetchConnections = Number.POSITIVE_INFINITY } = options;
	const { serviceConnections = Number.POSITIVE_INFINITY } = options;
	const guard = createSsrfGuard(options);
	const agentFor = (purpose: Purpose): Dispatcher =>
		createPurposeAgent(guard, purpose, {
			maxIdleMs,
			maxConnections: purpose === 'stream' ? fetchConnections : Number.POSITIVE_INFINITY,
			maxIdleConnections: options.maxIdleConnections,
		});
	const agents = {
		document: agentFor('document'),
		key_set: agentFor('key_set'),
		post: agentFor('post'),
		stream: agentFor('stream'),
	};
	const serviceClients = new Set<ServiceClient>();
	return {
		checkUrl: guard.checkUrl,
		download: (url, request) => download(guard, agents[request?.purpose ?? 'document'], url, request),
		post: (url, options) => post(guard, agents.post, url, options),
		fetch: (url, init = {}, rules) => guardedFetch(guard, agents.stream, url, init, rules),
		serviceClient(baseUrl, clientOptions) {
			const connections = Math.min(clientOptions?.connections ?? SERVICE_CONNECTIONS, serviceConnections);
			const client = createServiceClient(baseUrl, { ...clientOptions, connections });
			const serviceClient: ServiceClient = {
				fetch: client.fetch,
				stream: client.stream,
				async [Symbol.asyncDispose]() {
					serviceClients.delete(serviceClient);
					await client[Symbol.asyncDispose]();
				},
			};
			serviceClients.add(serviceClient);
			return serviceClient;
		},
		async [Symbol.asyncDispose]() {
			const disposals = [...serviceClients].map((serviceClient) => serviceClient[Symbol.asyncDispose]());
			await Promise.all([...Object.values(agents).map((agent) => agent.destroy()), ...disposals]);
		},
	};
}
