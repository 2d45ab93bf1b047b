import type * as uWS from 'uWebSockets.js';
import { descriptorShares, type Log } from '../base/index.ts';
import { createClientAddress } from './client-address.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { RequestDispatcher } from './dispatch.ts';
import { Exchange } from './exchange.ts';
import { Heartbeats } from './heartbeats.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { PendingExchanges } from './pending-exchanges.ts';
import type { RequestObserver } from './request-log.ts';
import type { RequestTracer } from './request-tracer.ts';
import { Router } from './router.ts';
import type { ServerContext } from './server-context.ts';
import type { HttpRequest, Route, Unhandled } from './types.ts';

/** What a server is made from. */
export interface HttpServerOptions {
	host: string;
	/** 0: any free port. */
	port: number;
	routes: readonly Route[];
	log: Log;
	/** Addresses and CIDR ranges whose X-Forwarded-For is trusted. Default: none. */
	trustedProxies?: readonly string[];
	/** Paths of routes (as in the table) that are served also while the server drains: liveness and metrics. */
	drainSafePaths?: readonly string[];
	/** Called once for each response that no handler made. */
	unhandled?: (request: HttpRequest) => Unhandled;
	limits?: Partial<HttpLimits>;
	/** Observe each request when its exchange is over. */
	observers?: readonly RequestObserver[];
	/** Null or absent: requests are not traced. */
	tracer?: RequestTracer | null;
	/** Whether `routes` is incomplete: other paths are answered 503 until `replaceRoutes` is called. */
	isStarting?: boolean;
	/** Connections that may be open at once. Default: the clients' share of the process's limit on file descriptors. */
	maxConnections?: number;
	/** The environment of this process. The HTTP library reads its limit on a request's headers from there and nowhere else. */
	environment: Record<string, string | undefined>;
}

/** A listening HTTP server. */
export interface HttpServer extends AsyncDisposable {
	/**
	 * Listens and accepts requests.
	 * @throws Error where the address cannot be listened on
	 */
	listen(): Promise<{ host: string; port: number }>;
	/**
	 * Serves these routes instead of the former ones.
	 * @throws Error for a wrong routing table
	 */
	replaceRoutes(routes: readonly Route[]): void;
	/**
	 * From now on, new requests are answered 503 `unavailable` and their connections close. Running requests continue. A
	 * connection whose stream has ended stays open until its client or the disposal closes it.
	 */
	drain(): void;
	/** Resolves when no response is pending, open event streams aside. */
	waitUntilIdle(): Promise<void>;
	/** Ends all event streams. Each sends its ready events first. */
	closeStreams(): Promise<void>;
	/** Event streams and connections that are open. */
	readonly openStreams: number;
	readonly openConnections: number;
	/** Stops listening and closes all connections, also those with a response in flight. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** The library's exports, including those that its types omit. */
type UwsLibrary = typeof uWS & { _cfg(setting: string): void; LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** An overload of `listen` that its types omit. */
interface ExclusiveListener {
	listen(
		host: string,
		port: number,
		options: number,
		onListen: (socket: uWS.us_listen_socket | false) => void,
	): unknown;
}

/** The library gives no cause. */
const CANNOT_LISTEN =
	'the port is taken, this user may not use it (below 1024), or this machine does not have the address.';
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * A server for a routing table. It does not listen yet.
 * @throws Error for a wrong routing table
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
	const pendingExchanges = new PendingExchanges();
	const dispatcher = new RequestDispatcher({
		router: new Router(options.routes),
		isStarting: options.isStarting ?? false,
		log: options.log,
		drainSafePaths: new Set(options.drainSafePaths),
		unhandled: options.unhandled ?? (() => ({ headers: [] })),
	});
	const limits = { ...DEFAULT_LIMITS, ...options.limits };
	const { observers = [] } = options;
	const context: ServerContext = {
		dispatcher,
		limits,
		log: options.log,
		clientAddress: createClientAddress(options.trustedProxies ?? [], options.host),
		observers,
		tracer: options.tracer ?? null,
		observesAddresses: observers.some(({ readsAddress }) => readsAddress),
		pendingExchanges,
		heartbeats: new Heartbeats(limits.heartbeatIntervalMs),
	};
	const connections = new ConnectionLimit(options.maxConnections ?? descriptorShares().clients, options.log);
	let app: uWS.TemplatedApp | null = null;
	const accept = (res: uWS.HttpResponse, req: uWS.HttpRequest): void => Exchange.handle(res, req, context);
	return {
		async listen() {
			const library = await loadLibrary(options.environment);
			app = library
				.App()
				.filter((res, change) => connections.count(res, change))
				.any('/*', accept)
				.any('/', accept);
			return bind(library, app, options.host, options.port);
		},
		replaceRoutes(routes) {
			dispatcher.replaceRouter(new Router(routes));
		},
		drain() {
			dispatcher.isDraining = true;
		},
		waitUntilIdle: () => pendingExchanges.waitUntilIdle(),
		closeStreams: () => pendingExchanges.closeStreams(),
		get openStreams() {
			return pendingExchanges.openStreams;
		},
		get openConnections() {
			return connections.openCount;
		},
		async [Symbol.asyncDispose]() {
			dispatcher.isDraining = true;
			app?.close();
			app = null;
		},
	};
}

/** Loads the HTTP library. It reads its limit on a request's headers from the environment when it is loaded. */
async function loadLibrary(environment: Record<string, string | undefined>): Promise<UwsLibrary> {
	environment.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEADER_BYTES);
	const library = (await import('uWebSockets.js')) as unknown as UwsLibrary;
	// Sends no header that names the library.
	library._cfg('silent');
	return library;
}

function bind(
	library: UwsLibrary,
	app: uWS.TemplatedApp,
	host: string,
	port: number,
): Promise<{ host: string; port: number }> {
	return new Promise((resolve, reject) => {
		// Without this option two processes could share a port, and each would get some of the requests.
		(app as unknown as ExclusiveListener).listen(host, port, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
			if (socket) resolve({ host, port: library.us_socket_local_port(socket) });
			else reject(new Error(`Cannot listen on ${host}:${port}: ${CANNOT_LISTEN}`));
		});
	});
}
