import type { Access, ClientNames } from './access/index.ts';
import { DRAIN_SAFE_PATHS, openMetricsRoute, unhandledApi, widgetErrorHeaders } from './api/index.ts';
import { AppError, type Clock, type Log, messageOf, readCertificate, sleep, validityProblem } from './base/index.ts';
import { ConfigError, listenAddress, processSources, type Settings, tlsFiles } from './config/index.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions, RequestLog } from './http/index.ts';
import type { Metrics } from './metrics/index.ts';
import type { Tracing } from './tracing/index.ts';

/** How long event streams may take to send their last events during a shutdown. */
const STREAM_DRAIN_MS = 2_000;

/** How long connections may take to close after the port of a node (ms). Load balancers close idle ones sooner. */
const CONNECTIONS_MS = 4_000;
const CONNECTIONS_CHECK_MS = 50;

export interface ServerParts {
	settings: Settings;
	log: Log;
	routes: HttpServerOptions['routes'];
	metrics: Metrics;
	tracing: Tracing | null;
	clientNames: ClientNames;
	errorHeaderAccess: () => Access | null;
}

/** The HTTP server with the routes that it has while the rest starts. */
export function createServer({
	settings,
	log,
	routes,
	metrics,
	tracing,
	clientNames,
	errorHeaderAccess,
}: ServerParts): HttpServer {
	return createHttpServer({
		host: settings.host,
		port: settings.port,
		routes,
		isStarting: true,
		log,
		tracer: tracing,
		observers: [...(tracing === null ? [] : [tracing]), metrics.http, ...requestLog(settings, log, clientNames)],
		tls: tlsFiles(settings),
		trustedProxies: settings.trusted_proxies,
		drainSafePaths: DRAIN_SAFE_PATHS,
		environment: processSources().env,
		unhandled(request) {
			const access = errorHeaderAccess();
			const api = access && unhandledApi(access, request);
			return { headers: [...widgetErrorHeaders(request), ...(api?.headers ?? [])], refusal: api?.refusal ?? null };
		},
	});
}

/**
 * Checks the files for TLS, if there are any. An invalid period of the certificate is logged.
 * @throws ConfigError with a sentence about a file
 */
export function checkCertificate(settings: Settings, clock: Clock, log: Log): void {
	const files = tlsFiles(settings);
	if (files === null) return;
	try {
		const problem = validityProblem(readCertificate(files), clock.now());
		if (problem !== null) log.warn({ file: files.certificate }, problem);
	} catch (cause) {
		throw new ConfigError(`TLS (PARLEY_TLS_CERT, PARLEY_TLS_KEY) is not possible. ${messageOf(cause)}`, { cause });
	}
}

/** Gives new connections the certificate that is in the files now. If that is not possible, the former one stays. */
export function reloadCertificate(server: HttpServer, clock: Clock, log: Log): void {
	try {
		const certificate = server.reloadCertificate();
		if (certificate === null) return;
		const { names, validTo } = certificate;
		const problem = validityProblem(certificate, clock.now());
		if (problem !== null) log.warn({ names }, problem);
		log.info({ names, valid_to: validTo.toISOString() }, 'new connections get the certificate that was read again');
	} catch (error) {
		log.error({ error: messageOf(error) }, 'the certificate was not read again; the former one stays');
	}
}

/** @throws AppError `unavailable` where the address cannot be listened on */
export function listen(server: HttpServer): ReturnType<HttpServer['listen']> {
	return server.listen().catch((cause: unknown) => {
		const remedy = 'Set PARLEY_PORT to another port, or PARLEY_HOST to an address of this machine.';
		throw new AppError('unavailable', `${messageOf(cause)} ${remedy}`, { cause });
	});
}

/** The listener that serves only the metrics; null where the main one does. */
export async function openMetricsServer(settings: Settings, log: Log, metrics: Metrics): Promise<HttpServer | null> {
	const address = settings.metrics_listen === undefined ? null : listenAddress(settings.metrics_listen);
	if (address === null) return null;
	const server = createHttpServer({
		...address,
		routes: [openMetricsRoute(metrics)],
		log,
		environment: processSources().env,
	});
	try {
		await server.listen();
	} catch (cause) {
		await server[Symbol.asyncDispose]();
		throw new AppError('unavailable', `${messageOf(cause)} Set PARLEY_METRICS_LISTEN to another address.`, { cause });
	}
	return server;
}

/**
 * Moves the clients to other nodes: new connections are refused, so that a load balancer tries the next node, and open ones close
 * after their next response. None is closed with a request on its way, if its client closes it in time.
 * @param ms how long pending responses may take, event streams aside
 */
export async function endConnections(server: HttpServer, ms: number): Promise<void> {
	server.stopListening();
	const begunAt = performance.now();
	const areIdleOnesOpen = () => server.openConnections > server.openStreams;
	while (areIdleOnesOpen() && performance.now() - begunAt < Math.min(ms, CONNECTIONS_MS)) {
		await sleep(CONNECTIONS_CHECK_MS);
	}
	const timeLeft = new AbortController();
	await Promise.race([server.waitUntilIdle(), sleep(ms - (performance.now() - begunAt), timeLeft.signal)]);
	timeLeft.abort();
}

/** Lets event streams send their last events, then closes them. */
export async function endStreams(server: HttpServer): Promise<void> {
	await Promise.race([server.waitUntilIdle(), new Promise((resolve) => setTimeout(resolve, STREAM_DRAIN_MS).unref())]);
	await server.closeStreams();
}

/** The request log; none where no line would be written. */
function requestLog(settings: Settings, log: Log, names: ClientNames): RequestLog[] {
	if (!settings.request_log || !log.isLevelEnabled('info')) return [];
	return [
		new RequestLog({
			log,
			sampleInterval: settings.request_log_sample,
			clientNameOf: (address) => names.nameOf(address),
		}),
	];
}
