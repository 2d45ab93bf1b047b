import { signal } from '@preact/signals';
import { ApiError } from '../api/api-error.ts';
import { api, type Resource, resultOf, whenUnauthorized } from '../api/client.ts';
import { startLive, stopLive } from '../api/live.ts';
import { queryClient } from '../api/queries.ts';

export type Session = Resource<'Session'>;
/** The parameters with which an identity provider sends the browser back. */
export type AuthorizationAnswer = Resource<'AuthorizationAnswer'>;

/** Who is signed in. `unknown` until the server has answered; `expired`: the session ended while the dashboard was open. */
export type SessionState =
	| { status: 'unknown' }
	| { status: 'failed'; error: Error }
	| { status: 'signed-out'; problem?: Error }
	| { status: 'expired' }
	| { status: 'signed-in'; session: Session };

/** The user whose drafts this tab holds. */
const USER_KEY = 'parley-user';

export const sessionState = signal<SessionState>({ status: 'unknown' });

whenUnauthorized(() => {
	if (sessionState.value.status !== 'signed-in') return;
	stopLive();
	sessionState.value = { status: 'expired' };
});

/** Asks who is signed in. @param response where the request is on its way already */
export async function loadSession(response?: Promise<Response>): Promise<void> {
	sessionState.value = { status: 'unknown' };
	try {
		begin(await resultOf(api.GET('/api/v1/session', response && { fetch: () => response })));
	} catch (error) {
		sessionState.value = isSignedOut(error) ? { status: 'signed-out' } : { status: 'failed', error: error as Error };
	}
}

function isSignedOut(error: unknown): boolean {
	return error instanceof ApiError && error.status === 401;
}

/** Shows the dashboard. Drafts that another user has left in this tab are forgotten. */
function begin(session: Session): void {
	if (sessionStorage.getItem(USER_KEY) !== session.user.id) sessionStorage.clear();
	sessionStorage.setItem(USER_KEY, session.user.id);
	sessionState.value = { status: 'signed-in', session };
	// Until the second factor is set up, the server refuses everything else.
	if (!session.needs_totp_setup) startLive(() => void checkUser());
}

/**
 * Shows the dashboard of the user who is signed in now. Tabs share the cookie: in another tab, another user may have signed in, which
 * ends the session and the connection of this tab.
 */
async function checkUser(): Promise<void> {
	const { data } = await api.GET('/api/v1/session').catch(() => ({ data: undefined }));
	const state = sessionState.value;
	if (state.status !== 'signed-in' || data === undefined || data.user.id === state.session.user.id) return;
	stopLive();
	queryClient.clear();
	await loadSession();
}

/** Signs in. The page that was shown stays. Another user sees nothing of what was loaded or typed before. */
export async function signIn(email: string, password: string): Promise<void> {
	const session = await resultOf(api.POST('/api/v1/session', { body: { email, password } }));
	queryClient.clear();
	begin(session);
}

/**
 * Ends a sign-in with an identity provider. A refusal shows the page for signing in.
 * @param body what the provider has added to the address
 */
export async function finishOidcSignIn(body: AuthorizationAnswer): Promise<void> {
	try {
		const session = await resultOf(api.POST('/api/v1/session/oidc/callback', { body }));
		queryClient.clear();
		begin(session);
	} catch (error) {
		sessionState.value = { status: 'signed-out', problem: error as Error };
	}
}

/** The second step of signing in. @param code of an authenticator app, or a recovery code */
export async function continueSignIn(code: string): Promise<void> {
	const session = await resultOf(api.POST('/api/v1/session/second-factor', { body: { code } }));
	queryClient.clear();
	begin(session);
}

/** Signs out and forgets everything that was loaded or typed. */
export async function signOut(): Promise<void> {
	await api.DELETE('/api/v1/session').catch((error: Error) => {
		// The session has ended already: what was loaded must not stay on the screen.
		if (!isSignedOut(error)) throw error;
	});
	stopLive();
	queryClient.clear();
	sessionStorage.clear();
	sessionState.value = { status: 'signed-out' };
}

/** Shows the changed account of the signed-in user. */
export function replaceUser(user: Session['user']): void {
	sessionState.value = { status: 'signed-in', session: { ...currentSession(), user } };
}

/** Shows the changed workspace. */
export function replaceWorkspace(workspace: Session['workspace']): void {
	sessionState.value = { status: 'signed-in', session: { ...currentSession(), workspace } };
}

/** The signed-in user's session. Only pages inside of the shell call it. */
export function currentSession(): Session {
	const state = sessionState.value;
	if (state.status !== 'signed-in') throw new Error('No user is signed in.');
	return state.session;
}

/** Whether the user's role permits what a scope of the API permits. */
export function may(scope: Session['scopes'][number]): boolean {
	const { scopes } = currentSession();
	return scopes.includes('*') || scopes.includes(scope);
}
