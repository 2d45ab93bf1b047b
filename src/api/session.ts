import type { Caller, CredentialWatch, Sessions, SignedIn, Users } from '../access/index.ts';
import { timestamp } from '../base/index.ts';
import {
	type Operation,
	type OperationInput,
	type OperationResult,
	operations,
	type Session,
} from '../contract/index.ts';
import type { HttpRequest, Reply, Route } from '../http/index.ts';
import type { Store } from '../store/index.ts';
import { type AdmissionOptions, admitted, admittedAsAnyone } from './admission.ts';
import { inputReader } from './pipeline.ts';
import { requireSoundKey } from './repeats.ts';
import { presentUser } from './users.ts';
import { presentWorkspace, workspaceOf } from './workspace.ts';

export interface SessionRoutesOptions extends AdmissionOptions {
	store: Store;
	sessions: Sessions;
	users: Users;
	watch: CredentialWatch;
}

/** A request to an operation that needs no credential but what it says itself. */
interface OpenCall<O extends Operation> extends OperationInput<O> {
	request: HttpRequest;
}

/** A request of somebody who is signed in. */
interface UserCall<O extends Operation> extends OpenCall<O> {
	caller: Caller & { signedIn: SignedIn };
}

/** A result, with the cookies that the browser gets along with it. */
interface Answered<O extends Operation> {
	result: OperationResult<O>;
	/** Set-Cookie headers. */
	cookies?: readonly (string | null)[];
}

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;

/** Signing in and out, who is signed in, and setting a password. */
export function sessionRoutes(options: SessionRoutesOptions): Route[] {
	const { store, sessions, users, watch, access, ownOrigin } = options;

	/** A route that anyone may call, but no other website's page. */
	const open = <O extends Operation>(operation: O, handle: (call: OpenCall<O>) => Promise<Answered<O>>): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			handle: (request) =>
				admittedAsAnyone(
					request,
					async () => {
						ownOrigin.refuseForeign(request);
						requireSoundKey(request);
						const input = { params: request.params, query: read.query(request), body: await read.body(request) };
						return replyOf(operation, await handle({ ...input, request } as OpenCall<O>));
					},
					options,
				),
		};
	};

	/** A route for who is signed in: here only the session counts. */
	const signedIn = <O extends Operation>(operation: O, handle: (call: UserCall<O>) => Promise<Answered<O>>): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			handle: (request) =>
				admitted(
					request,
					(credentials) => access.authenticateUser(credentials),
					async (caller) => {
						const input = { params: request.params, query: read.query(request), body: await read.body(request) };
						return replyOf(operation, await handle({ ...input, request, caller } as UserCall<O>));
					},
					options,
				),
		};
	};

	const present = async ({ session, user }: SignedIn): Promise<Session> => ({
		id: session.id,
		user: presentUser(user),
		workspace: presentWorkspace(await workspaceOf(store, user.workspace_id)),
		expires_at: timestamp(session.expires_at),
	});

	return [
		open(operations.createSession, async ({ body, request }) => {
			const origin = { address: request.clientAddress, cookies: request.header('cookie') };
			const begun = await sessions.signIn(body, origin);
			await watch.look();
			return { result: await present(begun), cookies: [begun.setCookie, begun.deviceCookie] };
		}),

		signedIn(operations.getSession, async ({ caller }) => ({ result: await present(caller.signedIn) })),

		signedIn(operations.deleteSession, async ({ caller }) => {
			const { id } = caller.signedIn.session;
			const cookie = await sessions.signOut(id);
			await watch.look();
			return { result: { id, deleted: true as const }, cookies: [cookie] };
		}),

		open(operations.setPassword, async ({ body, request }) => {
			const user = await users.setPassword(body.token, body.password);
			await watch.look();
			const workspace = presentWorkspace(await workspaceOf(store, user.workspace_id));
			const cookie = sessions.deviceCookie(user, request.header('cookie'));
			return { result: { user: presentUser(user), workspace }, cookies: [cookie] };
		}),
	];
}

function replyOf<O extends Operation>({ status = 200 }: O, { result, cookies = [] }: Answered<O>): Reply {
	const headers = cookies.flatMap((cookie) => (cookie === null ? [] : [['set-cookie', cookie] as const]));
	return { status, headers: [JSON_HEADER, NO_STORE, ...headers], body: JSON.stringify(result) };
}
