import { AppError, type Log } from '../base/index.ts';
import { errorResponse } from './errors.ts';
import type { IncomingRequest } from './request.ts';
import { RequestQueue } from './request-queue.ts';
import type { Router } from './router.ts';
import type { BytesResponse, HttpRequest, Route, RouteResponse, Unhandled } from './types.ts';

/** Seconds after which a rejected client may retry. */
const SECONDS_TO_RETRY = 5;

/** Methods that an error message names. A client may send any word of any length. */
const NAMED_METHOD = /^[A-Za-z-]{1,20}$/;

/** What a dispatcher needs. */
export interface DispatcherOptions {
	router: Router;
	/** Whether the routes are incomplete: other paths are answered 503 until `replaceRouter` is called. */
	isStarting: boolean;
	log: Log;
	/** Paths of routes that are served also while the server drains. */
	drainSafePaths: ReadonlySet<string>;
	/** What the application adds to responses that no handler made. */
	unhandled(request: HttpRequest): Unhandled;
}

/** Calls the handler of each request and turns its result or error into a response. It never throws. */
export class RequestDispatcher {
	readonly #options: DispatcherOptions;
	readonly #queue = new RequestQueue();
	#router: Router;
	/** Whether the routes are incomplete: an unknown path may exist soon. */
	#isStarting: boolean;
	/** Whether new requests are rejected. */
	isDraining = false;
	/** Whether each connection closes after its next response. */
	closesConnections = false;

	constructor(options: DispatcherOptions) {
		this.#options = options;
		this.#router = options.router;
		this.#isStarting = options.isStarting;
	}

	/** Uses this complete routing table from now on. */
	replaceRouter(router: Router): void {
		this.#router = router;
		this.#isStarting = false;
	}

	/** The response or its promise. The promise rejects with what the handler threw; `errorResponse` makes a response of that. */
	dispatch(request: IncomingRequest): RouteResponse | Promise<RouteResponse> {
		try {
			const route = this.#findRoute(request);
			request.responseTimeoutMs = route.responseTimeoutMs;
			const starts = route.mayWait !== true || this.#queue.startsAtOnce(request);
			const response = starts ? route.handle(request) : this.#handleLater(route, request);
			return response instanceof Promise ? response.then(requireResponse) : requireResponse(response);
		} catch (error) {
			return this.errorResponse(error, request);
		}
	}

	/** Calls a handler when the queue comes to its request, unless the request was aborted before. */
	async #handleLater(route: Route, request: IncomingRequest): Promise<RouteResponse> {
		await this.#queue.wait(request);
		return route.handle(request);
	}

	/** The response for an error of a handler, or for an error before a handler was found. */
	errorResponse(error: unknown, request: HttpRequest): BytesResponse {
		const { log } = this.#options;
		const { headers, refusal } = this.#unhandled(request);
		// A refusal replaces client errors only, never a failure of the server.
		const reported = refusal && error instanceof AppError && error.status < 500 ? refusal : error;
		const response = errorResponse(reported, request.id, log);
		const allow = reported instanceof MethodNotAllowed ? [['allow', reported.allow] as const] : [];
		return { ...response, headers: [...(response.headers ?? []), ...allow, ...headers] };
	}

	#unhandled(request: HttpRequest): Unhandled {
		try {
			return this.#options.unhandled(request);
		} catch (cause) {
			this.#options.log.error(
				{ err: cause, request_id: request.id },
				'the headers of an error response could not be made',
			);
			return { headers: [] };
		}
	}

	/** The error for a request whose deadline has passed. */
	deadlineError({ id, method, route }: IncomingRequest): AppError {
		// The path itself may contain private data, so only the route is logged.
		this.#options.log.warn({ request_id: id, method, route }, 'a request took too long');
		return new AppError('unavailable', 'The server took too long to respond. Try again later.', {
			retry_after: SECONDS_TO_RETRY,
		});
	}

	/** @throws AppError `not_found`, `method_not_allowed`, `unavailable`, `invalid_request` */
	#findRoute(request: IncomingRequest): Route {
		const found = this.#router.find(request.path);
		if (found === null && this.#isStarting)
			throw new AppError('unavailable', 'The server is starting.', { retry_after: 1 });
		if (found === null) throw new AppError('not_found', 'There is nothing at this path.');
		request.route = found.routes.path;
		const route = found.routes.routeFor(request.method);
		if (route === undefined) throw new MethodNotAllowed(request.method, found.routes.allow);
		if (this.isDraining && !this.#options.drainSafePaths.has(route.path)) {
			throw new AppError('unavailable', 'The server is shutting down.', { retry_after: SECONDS_TO_RETRY });
		}
		request.params = found.params;
		request.sampled = route.isLogSampled === true;
		return route;
	}
}

/** A 405 with the methods that the path accepts. */
class MethodNotAllowed extends AppError {
	readonly allow: string;

	constructor(method: string, allow: string) {
		const named = NAMED_METHOD.test(method) ? method : 'this method';
		super('method_not_allowed', `This path does not accept ${named}. It accepts ${allow}.`);
		this.allow = allow;
	}
}

/** The types guarantee a response. A handler that breaks the guarantee must not crash the process. */
function requireResponse(response: RouteResponse): RouteResponse {
	if (response !== null && typeof response === 'object' && isResponse(response)) return response;
	throw new TypeError('A route handler returned no response.');
}

function isResponse(value: object): boolean {
	return 'status' in value || 'events' in value || 'chunks' in value;
}

/** Releases a response that will not be sent: closes its events or chunks. */
export function discardResponse(response: RouteResponse): void {
	const release = async (): Promise<void> => {
		if ('events' in response) await response.events.close();
		if ('chunks' in response) await response.chunks[Symbol.asyncIterator]().return?.();
	};
	release().catch(() => {});
}
