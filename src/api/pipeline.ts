import type { CredentialMonitor } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import {
	bodyValidator,
	EmptyObject,
	isAudited,
	type Operation,
	pointerTo,
	queryValidator,
	SMALL_BODY,
	type Validator,
} from '../contract/index.ts';
import { type HttpRequest, ifMatchVersions, type Route, type RouteResponse } from '../http/index.ts';
import { type AdmissionOptions, admitCaller } from './admission.ts';
import { AuditTrail, type AuditTrailOptions, auditActorOf } from './audit-trail.ts';
import { type Call, type Handler, SelfIdempotentHandler } from './call.ts';
import {
	canonicalPathOf,
	createIdempotentCall,
	fingerprintOf,
	type IdempotencyOptions,
	type Idempotent,
	requireWellFormedKey,
} from './idempotent-call.ts';
import { respondUntilRevoked } from './revocable-response.ts';

/** Milliseconds until the response must have begun. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** The same where the response waits for a model's reply, which has its own time limit. */
export const REPLY_TIMEOUT_MS = 15 * 60_000;
/** The same for uploads: the time limit includes the transfer of a large file over a slow line. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;

const MULTIPART = /^multipart\/form-data[ \t]*(?:$|;)/i;

export interface PipelineOptions extends IdempotencyOptions, AdmissionOptions, AuditTrailOptions {
	credentialMonitor: CredentialMonitor;
}

/**
 * The route of an operation that needs a credential. In this order it checks the credential, the rate limit, the scope, the input and
 * whether the request is a repeat; then it calls the handler.
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
		mayWait: true,
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
					return operation.streams || operation.download
						? respondUntilRevoked(credentialMonitor, caller, request, respond)
						: respond(request);
				},
				options,
			),
	};
}

/** Calls the handler, idempotently where the handler does not see to that itself. */
async function runHandler<O extends Operation>(
	operation: O,
	handler: Handler<O>,
	input: Omit<Call<O>, keyof Idempotent<O>>,
	options: PipelineOptions,
): Promise<RouteResponse> {
	const { caller, request } = input;
	// A response with a secret is replayed only to the credential of the first request.
	const keyOwner = operation.secret ? `${caller.workspaceId} ${caller.credentialId}` : caller.workspaceId;
	const scope = `${keyOwner} ${operation.method} ${canonicalPathOf(operation, request)}`;
	const audit = isAudited(operation)
		? { actor: auditActorOf(caller), trail: new AuditTrail(operation, request, input, options) }
		: null;
	const { responses, ...idempotent } = createIdempotentCall(operation, scope, request, options, audit);
	const call = { ...input, ...idempotent } as Call<O>;
	const result =
		handler instanceof SelfIdempotentHandler
			? await handler.handle(call)
			: await idempotent.runIdempotently(
					() => fingerprintOf(call.body),
					() => handler(call),
				);
	return responses.toResponse(result);
}

function responseTimeoutOf({ streams, multipart }: Operation): number {
	if (streams) return REPLY_TIMEOUT_MS;
	return multipart ? UPLOAD_TIMEOUT_MS : RESPONSE_TIMEOUT_MS;
}

/** Validates and types the input of an operation. */
export interface InputReader {
	query(request: HttpRequest): unknown;
	/** Undefined for a multipart body, which some operations accept in place of JSON. */
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
				// An empty JSON object is accepted as no body: some clients always send one.
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

/** @throws AppError `invalid_request` for a repeated parameter, because neither value would be right */
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
