import type * as uWS from 'uWebSockets.js';
import { descriptorShares, type Log } from '../base/index.ts';
import { createClientAddress } from './client-address.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { RequestDispatcher } from './dispatch.ts';
import { Exchange, type ServerContext } from './exchange.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import type { RequestObserver } from './request-log.ts';
import { Router } from './router.ts';
import type { HttpRequest, Route, Unhandled } from './types.ts';

/** How a server is made. */
export interface HttpServerOptions {
	host: string;
	/** 0 takes any free port. */
	port: number;
	routes: readonly Route[];
	log: Log;
	/** Addresses and CIDR ranges whose X-Forwarded-For is believed. Default: nobody's. */
	trustedProxies?: readonly string[];
	/** Paths of routes (as in the table) that answer also while the server drains: whether it is alive, and how it does. */
	drainSafePaths?: readonly string[];
	/** Asked once for each answer that no handler made. */
	unhandled?: (request: HttpRequest) => Unhandled;
	limits?: Partial<HttpLimits>;
	/** Observes each request when its exchange is over. */
	observer?: RequestObserver | null;
	/** Whether `routes` are not all: other paths are answered 503 until `serve` brings the rest. */
	isStarting?: boolean;
	/** Connections that may be open at once. Default: what the process's limit on file descriptors leaves for them. */
	maxConnections?: number;
}

/** A listening HTTP server. */
export interface HttpServer extends AsyncDisposable {
	/**
	 * Begins to take requests.
	 * @throws Error where the address cannot be listened on
	 */
	listen(): Promise<{ host: string; port: number }>;
	/** Goes on with these routes instead of those that it was made with. Errors in the table show here. */
	replaceRoutes(routes: readonly Route[]): void;
	/**
	 * From now on new requests are answered 503 `unavailable` and their connections close; what runs goes on. A connection
	 * whose stream has ended stays until its client or the disposal closes it.
	 */
	drain(): void;
	/** Resolves when no answer is pending any more, open event streams aside. */
	waitUntilIdle(): Promise<void>;
	/** Ends all event streams, each after what it has ready. */
	closeStreams(): Promise<void>;
	/** Stops listening and closes all connections, whatever is still under way on them. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** The library's exports, with those that its types leave out. */
type UwsLibrary = typeof uWS & { _cfg(setting: string): void; LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** A form of `listen` that its types leave out. */
interface ExclusiveListener {
	listen(
		host: string,
		port: number,
		options: number,
		onListen: (socket: uWS.us_listen_socket | false) => void,
	): unknown;
}

/** The library tells no cause. */
const CANNOT_LISTEN =
	'the port is taken, this user may not use it (below 1024), or this machine does not have the address.';
const MAX_HEADER_BYTES = 16 * 1024;

/** A server for a table of routes, not listening yet. Errors in the table show here. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
	const pendingExchanges = new Set<Exchange>();
	const dispatcher = new RequestDispatcher({
		router: new Router(options.routes),
		isStarting: options.isStarting ?? false,
		log: options.log,
		servedWhileDraining: new Set(options.drainSafePaths),
		unhandled: options.unhandled ?? (() => ({ headers: [] })),
	});
	const context: ServerContext = {
		dispatcher,
		limits: { ...DEFAULT_LIMITS, ...options.limits },
		log: options.log,
		clientAddress: createClientAddress(options.trustedProxies ?? [], options.host),
		observer: options.observer ?? null,
		pendingExchanges,
	};
	const connections = new ConnectionLimit(options.maxConnections ?? descriptorShares().clients, options.log);
	let app: uWS.TemplatedApp | null = null;
	const accept = (res: uWS.HttpResponse, req: uWS.HttpRequest): void => Exchange.handle(res, req, context);
	return {
		async listen() {
			const library = await loadLibrary();
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
		async waitUntilIdle() {
			for (;;) {
				const pendingResponses = [...pendingExchanges].filter((exchange) => !exchange.streaming);
				if (pendingResponses.length === 0) return;
				await Promise.all(pendingResponses.map((exchange) => exchange.waitUntilFinished()));
			}
		},
		async closeStreams() {
			await Promise.all([...pendingExchanges].map((exchange) => exchange.closeStream()));
		},
		async [Symbol.asyncDispose]() {
			dispatcher.isDraining = true;
			app?.close();
			app = null;
		},
	};
}

/**
 * The HTTP library reads its limit on a request's headers from the environment while it is loaded, and nowhere else.
 * This is the one place outside of the settings that writes there.
 */
async function loadLibrary(): Promise<UwsLibrary> {
	process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEADER_BYTES);
	const library = (await import('uWebSockets.js')) as unknown as UwsLibrary;
	// No header that names the library.
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
		// Without this option two processes could share a port, and requests would go to either.
		(app as unknown as ExclusiveListener).listen(host, port, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
			if (socket) resolve({ host, port: library.us_socket_local_port(socket) });
			else reject(new Error(`Cannot listen on ${host}:${port}: ${CANNOT_LISTEN}`));
		});
	});
}
