import type { Caller, CredentialMonitor, Sessions, UserSession, Users } from '../access/index.ts';
import { timestamp } from '../base/index.ts';
import {
	type Operation,
	type OperationInput,
	type OperationResult,
	operations,
	type Session,
} from '../contract/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../http/index.ts';
import type { Store } from '../store/index.ts';
import { type AdmissionOptions, admitAnonymous, admitCaller } from './admission.ts';
import { requireWellFormedKey } from './idempotent-call.ts';
import { inputReader } from './pipeline.ts';
import { presentUser } from './users.ts';
import { presentWorkspace, requireWorkspace } from './workspace.ts';

export interface SessionRoutesOptions extends AdmissionOptions {
	store: Store;
	sessions: Sessions;
	users: Users;
	credentialMonitor: CredentialMonitor;
}

/** A request to an operation that needs no credential beside its input. */
interface AnonymousCall<O extends Operation> extends OperationInput<O> {
	request: HttpRequest;
}

/** A request of a user who is signed in. */
interface UserCall<O extends Operation> extends AnonymousCall<O> {
	caller: Caller & { userSession: UserSession };
}

/** A result with cookies for the browser. */
interface SessionResult<O extends Operation> {
	result: OperationResult<O>;
	/** Set-Cookie headers. */
	cookies?: readonly (string | null)[];
}

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;

/** Signing in and out, who is signed in, and setting a password. */
export function sessionRoutes(options: SessionRoutesOptions): Route[] {
	const { store, sessions, users, credentialMonitor, access, sameOriginCheck } = options;

	/** A public route, which pages of other websites cannot call. */
	const anonymousRoute = <O extends Operation>(
		operation: O,
		handle: (call: AnonymousCall<O>) => Promise<SessionResult<O>>,
	): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			handle: (request) =>
				admitAnonymous(
					request,
					async () => {
						sameOriginCheck.rejectCrossOrigin(request);
						requireWellFormedKey(request);
						const input = { params: request.params, query: read.query(request), body: await read.body(request) };
						return toResponse(operation, await handle({ ...input, request } as AnonymousCall<O>));
					},
					options,
				),
		};
	};

	/** A route for signed-in users: only the session counts. */
	const userRoute = <O extends Operation>(
		operation: O,
		handle: (call: UserCall<O>) => Promise<SessionResult<O>>,
	): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			handle: (request) =>
				admitCaller(
					request,
					(credentials) => access.authenticateUser(credentials),
					async (caller) => {
						const input = { params: request.params, query: read.query(request), body: await read.body(request) };
						return toResponse(operation, await handle({ ...input, request, caller } as UserCall<O>));
					},
					options,
				),
		};
	};

	const present = async ({ session, user }: UserSession): Promise<Session> => ({
		id: session.id,
		user: presentUser(user),
		workspace: presentWorkspace(await requireWorkspace(store, user.workspace_id)),
		expires_at: timestamp(session.expires_at),
	});

	return [
		anonymousRoute(operations.createSession, async ({ body, request }) => {
			const origin = { address: request.clientAddress, cookies: request.header('cookie') };
			const newSession = await sessions.signIn(body, origin);
			await credentialMonitor.recheckAll();
			return { result: await present(newSession), cookies: [newSession.setCookie, newSession.deviceCookie] };
		}),

		userRoute(operations.getSession, async ({ caller }) => ({ result: await present(caller.userSession) })),

		userRoute(operations.deleteSession, async ({ caller }) => {
			const { id } = caller.userSession.session;
			const cookie = await sessions.signOut(id);
			await credentialMonitor.recheckAll();
			return { result: { id, deleted: true as const }, cookies: [cookie] };
		}),

		anonymousRoute(operations.setPassword, async ({ body, request }) => {
			const user = await users.setPassword(body.token, body.password);
			await credentialMonitor.recheckAll();
			const workspace = presentWorkspace(await requireWorkspace(store, user.workspace_id));
			const cookie = sessions.deviceCookie(user, request.header('cookie'));
			return { result: { user: presentUser(user), workspace }, cookies: [cookie] };
		}),
	];
}

function toResponse<O extends Operation>(
	{ status = 200 }: O,
	{ result, cookies = [] }: SessionResult<O>,
): RouteResponse {
	const headers = cookies.flatMap((cookie) => (cookie === null ? [] : [['set-cookie', cookie] as const]));
	return { status, headers: [JSON_HEADER, NO_STORE, ...headers], body: JSON.stringify(result) };
}
