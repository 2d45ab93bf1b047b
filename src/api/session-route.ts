import type { Access, AuditWrites, Caller, SignInOrigin, UserSession } from '../access/index.ts';
import type { AppError } from '../base/index.ts';
import { type Operation, type OperationInput, type OperationResult, takesIdempotencyKey } from '../contract/index.ts';
import { errorResponse, type HttpRequest, type Route, type RouteResponse } from '../http/index.ts';
import { type AdmissionOptions, admitAnonymous, admitCaller } from './admission.ts';
import { AuditTrail, type AuditTrailOptions, auditActorOf } from './audit-trail.ts';
import type { Call, HandlerResult } from './call.ts';
import {
	createIdempotentCall,
	fingerprintOf,
	type IdempotencyOptions,
	requireWellFormedKey,
} from './idempotent-call.ts';
import { inputReader } from './pipeline.ts';

export interface SessionRouteOptions extends AdmissionOptions, AuditTrailOptions {
	access: Access;
}

/** A request to an operation that needs no credential beside its input. */
interface AnonymousCall<O extends Operation> extends OperationInput<O> {
	/** Where the request comes from. */
	origin: SignInOrigin;
	/** Records what the request does. */
	audit: AuditWrites;
}

/** A request of a user who is signed in. */
interface UserCall<O extends Operation> extends AnonymousCall<O> {
	caller: Caller & { userSession: UserSession };
}

/** A result, or an error, with cookies for the browser. */
type SessionResult<O extends Operation> = ({ result: OperationResult<O> } | { refusal: AppError }) & {
	/** Set-Cookie headers. */
	cookies?: readonly (string | null)[];
};

type RouteFactory<C> = <O extends Operation>(
	operation: O,
	handle: (call: C & AnonymousCall<O>) => Promise<SessionResult<O>>,
) => Route;

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;

/** Makes public routes for people who are to use the dashboard. Pages of other websites cannot call them. */
export function anonymousRouteFactory(options: SessionRouteOptions): RouteFactory<object> {
	return (operation, handle) => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			mayWait: true,
			handle: (request) =>
				admitAnonymous(
					request,
					async () => {
						options.access.requireDashboardNetwork(request.clientAddress);
						options.sameOriginCheck.rejectCrossOrigin(request);
						requireWellFormedKey(request);
						const input = { params: request.params, query: read.query(request), body: await read.body(request) };
						const call = { ...input, origin: originOf(request), audit: auditOf(operation, request, input, options) };
						return toResponse(operation, await handle(call as never), request, options);
					},
					options,
				),
		};
	};
}

/** Makes routes for signed-in users: only the session counts. */
export function userRouteFactory(options: SessionRouteOptions): RouteFactory<Pick<UserCall<Operation>, 'caller'>> {
	return (operation, handle) => {
		if (takesIdempotencyKey(operation)) throw new Error(`${operation.path} honours an Idempotency-Key`);
		return userRoute(operation, options, async (request, caller, input) => {
			const audit = auditOf(operation, request, input, options);
			const call = { ...input, origin: originOf(request), audit, caller };
			return toResponse(operation, await handle(call as never), request, options);
		});
	};
}

/** A change that a signed-in user makes of the own account. */
interface OwnChange<O extends Operation> extends Omit<UserCall<O>, 'audit'>, Pick<Call<O>, 'commit'> {
	/** Sets the Set-Cookie header of the response. Repeats of the request get none. */
	setCookie(header: string): void;
}

/** Makes routes for changes of the own account that honour an Idempotency-Key, which belongs to the session. */
export function ownChangeRouteFactory(options: SessionRouteOptions & IdempotencyOptions) {
	return <O extends Operation>(operation: O, handle: (change: OwnChange<O>) => Promise<HandlerResult<O>>): Route =>
		userRoute(operation, options, async (request, caller, input) => {
			const { workspaceId, credentialId } = caller;
			const scope = `${workspaceId} ${credentialId} ${operation.method} ${operation.path}`;
			const audit = { actor: auditActorOf(caller), trail: new AuditTrail(operation, request, input, options) };
			const idempotent = createIdempotentCall(operation, scope, request, options, audit);
			const { responses, runIdempotently, commit } = idempotent;
			let cookie: string | null = null;
			const setCookie = (header: string) => {
				cookie = header;
			};
			const change = { ...input, origin: originOf(request), caller, commit, setCookie };
			const result = await runIdempotently(
				() => fingerprintOf(input.body),
				() => handle(change as never),
			);
			return withCookies(responses.toResponse(result), [cookie]);
		});
}

/** The input of a user's request before its operation gives it types. */
interface UserInput {
	params: HttpRequest['params'];
	query: unknown;
	body: unknown;
}

/** A route that admits users who are signed in, and reads their input. */
function userRoute(
	operation: Operation,
	options: SessionRouteOptions,
	respond: (request: HttpRequest, caller: UserCall<Operation>['caller'], input: UserInput) => Promise<RouteResponse>,
): Route {
	const read = inputReader(operation);
	return {
		method: operation.method,
		path: operation.path,
		mayWait: true,
		handle: (request) =>
			admitCaller(
				request,
				(credentials) => {
					requireWellFormedKey(request);
					return options.access.authenticateUser(credentials);
				},
				async (caller) => {
					const input = { params: request.params, query: read.query(request), body: await read.body(request) };
					return respond(request, caller, input);
				},
				options,
			),
	};
}

/** Adds Set-Cookie headers to a response. */
function withCookies(response: RouteResponse, cookies: readonly (string | null)[]): RouteResponse {
	const headers = cookies.flatMap((cookie) => (cookie === null ? [] : [['set-cookie', cookie] as const]));
	return { ...response, headers: [...(response.headers ?? []), ...headers] };
}

function originOf(request: HttpRequest): SignInOrigin {
	return {
		address: request.clientAddress,
		cookies: request.header('cookie'),
		userAgent: request.header('user-agent'),
	};
}

function auditOf(
	operation: Operation,
	request: HttpRequest,
	input: { query: unknown; body: unknown },
	options: AuditTrailOptions,
): AuditWrites {
	const trail = new AuditTrail(operation, request, input, options);
	return ({ id, name, workspace_id }, changed, action, fields) =>
		trail.writes({ workspace_id, actor_type: 'user', actor_id: id, actor_name: name }, changed, action, fields);
}

function toResponse<O extends Operation>(
	{ status = 200 }: O,
	{ cookies = [], ...outcome }: SessionResult<O>,
	request: HttpRequest,
	{ log }: Pick<SessionRouteOptions, 'log'>,
): RouteResponse {
	if ('refusal' in outcome) return withCookies(errorResponse(outcome.refusal, request.id, log), cookies);
	return withCookies({ status, headers: [JSON_HEADER, NO_STORE], body: JSON.stringify(outcome.result) }, cookies);
}
