import type { CredentialMonitor } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import {
	bodyValidator,
	EmptyObject,
	type Operation,
	pointerTo,
	queryValidator,
	SMALL_BODY,
	type Validator,
} from '../contract/index.ts';
import { type HttpRequest, ifMatchVersions, type Route, type RouteResponse } from '../http/index.ts';
import { type AdmissionOptions, admitCaller } from './admission.ts';
import { type Call, type Handler, SelfIdempotentHandler } from './call.ts';
import {
	canonicalPathOf,
	createIdempotentCall,
	fingerprintOf,
	type IdempotencyOptions,
	requireWellFormedKey,
} from './idempotent-call.ts';
import { respondUntilRevoked } from './revocable-response.ts';

/** Milliseconds until the response must have begun. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** The same where the response waits for a model's reply, which has its own time limit. */
export const REPLY_TIMEOUT_MS = 15 * 60_000;
/** A large file on a slow line: the body's way counts too. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;

const MULTIPART = /^multipart\/form-data[ \t]*(?:$|;)/i;

export interface PipelineOptions extends IdempotencyOptions, AdmissionOptions {
	credentialMonitor: CredentialMonitor;
}

/**
 * The way of a request with a credential: who is it, how often, may they, is it well formed, was it answered before; then
 * the handler.
 */
export function credentialRoute<O extends Operation>(
	operation: O,
	handler: Handler<O>,
	options: PipelineOptions,
): Route {
	const { access, credentialMonitor } = options;
	const read = inputReader(operation);
	const rule = operation.access;
	if (rule.kind !== 'key') throw new Error(`${operation.path} is not an operation for API keys`);
	return {
		method: operation.method,
		path: operation.path,
		responseTimeoutMs: responseTimeoutOf(operation),
		handle: (request) =>
			admitCaller(
				request,
				(credentials) => access.authenticate(credentials),
				async (caller) => {
					if (rule.scope !== null) access.requireScope(caller, rule.scope);
					requireWellFormedKey(request);
					const query = read.query(request);
					const isChange = operation.method === 'PATCH' || operation.method === 'DELETE';
					const ifMatch = isChange ? ifMatchVersions(request.header('if-match')) : null;
					const body = await read.body(request);
					const respond = (request: HttpRequest) => {
						const input = { params: request.params, query, body, caller, request, ifMatchVersions: ifMatch } as never;
						return runHandler(operation, handler, input, options);
					};
					return operation.streams
						? respondUntilRevoked(credentialMonitor, caller, request, respond)
						: respond(request);
				},
				options,
			),
	};
}

/** Lets the handler answer, and sees to repeats where it does not do that itself. */
async function runHandler<O extends Operation>(
	operation: O,
	handler: Handler<O>,
	input: Omit<Call<O>, 'receipt' | 'runIdempotently'>,
	options: PipelineOptions,
): Promise<RouteResponse> {
	const { caller, request } = input;
	// An answer that shows a secret is for whoever asked first, and for nobody else with the same key.
	const keyOwner = operation.secret ? `${caller.workspaceId} ${caller.credentialId}` : caller.workspaceId;
	const scope = `${keyOwner} ${operation.method} ${canonicalPathOf(operation, request)}`;
	const { responses, receipt, runIdempotently } = createIdempotentCall(operation, scope, request, options);
	const call = { ...input, receipt, runIdempotently } as Call<O>;
	const result =
		handler instanceof SelfIdempotentHandler
			? await handler.handle(call)
			: await runIdempotently(
					() => fingerprintOf(call.body),
					() => handler(call),
				);
	return responses.toResponse(result);
}

function responseTimeoutOf({ streams, multipart }: Operation): number {
	if (streams) return REPLY_TIMEOUT_MS;
	return multipart ? UPLOAD_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
}

/** Checks and types what a request of an operation brings. */
export interface InputReader {
	query(request: HttpRequest): unknown;
	/** Undefined for the multipart body that an operation takes instead of a JSON one. */
	body(request: HttpRequest): Promise<unknown>;
}

/** Compiles an operation's validators, once. */
export function inputReader(operation: Operation): InputReader {
	const checkQuery = queryValidator(operation.query ?? EmptyObject);
	const checkBody: Validator<unknown> = bodyValidator(operation.body ?? EmptyObject);
	return {
		query: (request) => checkQuery(queryObject(request)),
		async body(request) {
			if (operation.multipart && MULTIPART.test(request.header('content-type') ?? '')) return undefined;
			const maxBytes = operation.body === undefined ? SMALL_BODY : operation.maxBodyBytes;
			const value = await request.json({ maxBytes });
			if (operation.body === undefined) {
				// An empty JSON object is as good as no body: some clients cannot send none.
				if (value !== undefined) checkBody(value);
				return undefined;
			}
			if (value === undefined) {
				const details = [{ path: '', message: 'is required' }];
				throw new AppError('invalid_request', 'The request needs a JSON body.', { details });
			}
			return checkBody(value);
		},
	};
}

/** A parameter that is given twice is not one of the two: it is refused. */
function queryObject(request: HttpRequest): Record<string, string> {
	// Without a prototype: a parameter may have any name.
	const query: Record<string, string> = Object.create(null);
	for (const [name, value] of request.query) {
		if (Object.hasOwn(query, name)) {
			const details = [{ path: pointerTo(name), message: 'is given twice' }];
			throw new AppError('invalid_request', `The query parameter ${name} is given twice.`, { details });
		}
		query[name] = value;
	}
	return query;
}
