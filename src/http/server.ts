import type * as uWS from 'uWebSockets.js';
import { type CertificateSummary, descriptorShares, type Log, readCertificate, type TlsFiles } from '../base/index.ts';
import { createClientAddress } from './client-address.ts';
import { ConnectionLimit } from './connection-limit.ts';
import { DiscardThrottle } from './discard-throttle.ts';
import { RequestDispatcher } from './dispatch.ts';
import { Exchange } from './exchange.ts';
import { Heartbeats } from './heartbeats.ts';
import { DEFAULT_LIMITS, type HttpLimits } from './limits.ts';
import { PendingExchanges } from './pending-exchanges.ts';
import { PortListener } from './port-listener.ts';
import { RefusalDelay } from './refusal-delay.ts';
import type { RequestObserver } from './request-log.ts';
import type { RequestTracer } from './request-tracer.ts';
import { Router } from './router.ts';
import type { ServerContext } from './server-context.ts';
import { SmallChunkLimit } from './small-chunk-limit.ts';
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
	/** Whether senders decide on the id (X-Request-Id) and the time limit of a request: only where all are known. Default: no. */
	trustsSender?: boolean;
	/** Whether a client that is refused again and again waits for its refusals. Default: yes. */
	delaysRefusals?: boolean;
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
	/** Null or absent: plain HTTP. Else only HTTPS. */
	tls?: TlsFiles | null;
	/** The environment of this process. The HTTP library reads its limit on a request's headers from there and nowhere else. */
	environment: Record<string, string | undefined>;
}

/** A listening HTTP server. */
export interface HttpServer extends AsyncDisposable {
	/**
	 * Listens and accepts requests.
	 * @throws Error where the address cannot be listened on, or with a sentence about the files for TLS
	 */
	listen(): Promise<{ host: string; port: number }>;
	/**
	 * Reads the files for TLS again. New connections get the certificate that is there now, others keep theirs.
	 * @returns what it says; null without TLS
	 * @throws Error with a sentence about the files; then the former certificate stays
	 */
	reloadCertificate(): CertificateSummary | null;
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
	/** From now on, new connections are refused, and each open one closes after its next response. Requests are served. */
	stopListening(): void;
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
		trustsSender: options.trustsSender ?? false,
		refusalDelay: options.delaysRefusals === false ? null : new RefusalDelay(),
		observers,
		tracer: options.tracer ?? null,
		observesAddresses: observers.some(({ readsAddress }) => readsAddress),
		pendingExchanges,
		heartbeats: new Heartbeats(limits.heartbeatIntervalMs),
		discardThrottle: new DiscardThrottle(),
		smallChunkLimit: new SmallChunkLimit(),
	};
	const connections = new ConnectionLimit(options.maxConnections ?? descriptorShares().clients, options.log);
	const { tls = null } = options;
	let listener: PortListener | null = null;
	const accept = (res: uWS.HttpResponse, req: uWS.HttpRequest): void => Exchange.handle(res, req, context);
	return {
		async listen() {
			if (tls !== null) readCertificate(tls);
			listener = await PortListener.load(options.environment, tls, (app) => {
				app
					.filter((res, change) => connections.count(res, change))
					.any('/*', accept)
					.any('/', accept);
			});
			return listener.listen(options.host, options.port);
		},
		reloadCertificate() {
			if (tls === null) return null;
			const certificate = readCertificate(tls);
			listener?.reloadCertificate();
			return certificate;
		},
		replaceRoutes(routes) {
			dispatcher.replaceRouter(new Router(routes));
		},
		drain() {
			dispatcher.isDraining = true;
			dispatcher.closesConnections = true;
		},
		stopListening() {
			dispatcher.closesConnections = true;
			listener?.stopListening();
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
			dispatcher.closesConnections = true;
			listener?.close();
			listener = null;
		},
	};
}
