import { AppError, type Log } from '../base/index.ts';
import { errorResponse } from './errors.ts';
import type { IncomingRequest } from './request.ts';
import type { Router } from './router.ts';
import type { BytesResponse, HttpRequest, Route, RouteResponse, Unhandled } from './types.ts';

/** Seconds after which a client that was turned away may come again. */
const SECONDS_TO_RETRY = 5;

/** Methods that an answer names; a client may send any word of any length. */
const NAMED_METHOD = /^[A-Za-z-]{1,20}$/;

/** What a dispatcher works with. */
export interface DispatcherOptions {
	router: Router;
	/** Whether these are not all routes yet: other paths are answered 503 until `serve`. */
	isStarting: boolean;
	log: Log;
	/** Paths of routes that answer also while the server drains. */
	servedWhileDraining: ReadonlySet<string>;
	/** What the application adds to the answers that no handler made. */
	unhandled(request: HttpRequest): Unhandled;
}

/** Brings requests to their handlers and makes an answer of whatever comes back. Nothing it calls can throw past it. */
export class RequestDispatcher {
	readonly #options: DispatcherOptions;
	#router: Router;
	/** Whether the routes are not all there yet: what is not found may be there soon. */
	#isStarting: boolean;
	/** Whether new requests are turned away. */
	isDraining = false;

	constructor(rules: DispatcherOptions) {
		this.#options = rules;
		this.#router = rules.router;
		this.#isStarting = rules.isStarting;
	}

	/** Goes on with the whole table. */
	replaceRouter(router: Router): void {
		this.#router = router;
		this.#isStarting = false;
	}

	/** The answer, at once or later. A promise rejects with what the handler threw: `errorResponse` makes an answer of it. */
	dispatch(request: IncomingRequest): RouteResponse | Promise<RouteResponse> {
		try {
			const route = this.#findRoute(request);
			request.responseTimeoutMs = route.responseTimeoutMs;
			const response = route.handle(request);
			return response instanceof Promise ? response.then(requireResponse) : requireResponse(response);
		} catch (error) {
			return this.errorResponse(error, request);
		}
	}

	/** The answer to what a handler threw, or to what went wrong before one was found. */
	errorResponse(error: unknown, request: HttpRequest): BytesResponse {
		const { log } = this.#options;
		const { headers, refusal } = this.#unhandled(request);
		// A failure of the server is told as it is.
		const told = refusal && error instanceof AppError && error.status < 500 ? refusal : error;
		const response = errorResponse(told, request.id, log);
		const allow = told instanceof MethodNotAllowed ? [['allow', told.allow] as const] : [];
		return { ...response, headers: [...(response.headers ?? []), ...allow, ...headers] };
	}

	#unhandled(request: HttpRequest): Unhandled {
		try {
			return this.#options.unhandled(request);
		} catch (cause) {
			this.#options.log.error({ err: cause, request_id: request.id }, 'the headers of an error could not be made');
			return { headers: [] };
		}
	}

	/** The error that a request is answered with when its deadline has passed. */
	deadlineError({ id, method, route }: IncomingRequest): AppError {
		// The path itself may hold what nobody else should read.
		this.#options.log.warn({ request_id: id, method, route }, 'a request took too long');
		return new AppError('unavailable', 'The answer took too long.', { retry_after: SECONDS_TO_RETRY });
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
		if (this.isDraining && !this.#options.servedWhileDraining.has(route.path)) {
			throw new AppError('unavailable', 'The server is shutting down.', { retry_after: SECONDS_TO_RETRY });
		}
		request.params = found.params;
		request.sampled = route.isLogSampled === true;
		return route;
	}
}

/** A 405 with the methods that the path does take. */
class MethodNotAllowed extends AppError {
	readonly allow: string;

	constructor(method: string, allow: string) {
		const named = NAMED_METHOD.test(method) ? method : 'this method';
		super('method_not_allowed', `This path does not take ${named}. It takes ${allow}.`);
		this.allow = allow;
	}
}

/** The types promise a reply; a handler that breaks the promise must not end the process. */
function requireResponse(response: RouteResponse): RouteResponse {
	if (response !== null && typeof response === 'object' && ('status' in response || 'events' in response))
		return response;
	throw new TypeError('A route handler returned no reply.');
}

/** Lets go of a reply that will not be sent: its events, where it has some, must learn of it. */
export function discardResponse(response: RouteResponse): void {
	if (!('events' in response)) return;
	const release = async (): Promise<void> => {
		await response.events[Symbol.asyncIterator]().return?.();
	};
	release().catch(() => {});
}
