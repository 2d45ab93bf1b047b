import { type Sessions, scopesOf, type UserSession, type Users } from '../access/index.ts';
import { AppError, timestamp } from '../base/index.ts';
import { operations, type Session } from '../contract/index.ts';
import type { Route } from '../http/index.ts';
import type { Store } from '../store/index.ts';
import { type OidcRoutesOptions, oidcRoutes } from './oidc.ts';
import { anonymousRouteFactory, userRouteFactory } from './session-route.ts';
import { presentUser } from './users.ts';
import { presentWorkspace, requireWorkspace } from './workspace.ts';

export interface SessionRoutesOptions extends OidcRoutesOptions {
	store: Store;
	sessions: Sessions;
	users: Users;
}

/** Signing in and out, who is signed in, and setting a password. */
export function sessionRoutes(options: SessionRoutesOptions): Route[] {
	const { access, store, sessions, users, passwordSignIn, credentialMonitor } = options;
	const anonymousRoute = anonymousRouteFactory(options);
	const userRoute = userRouteFactory(options);

	const present = async ({ session, user }: UserSession): Promise<Session> => ({
		id: session.id,
		user: presentUser(user),
		workspace: presentWorkspace(await requireWorkspace(store, user.workspace_id)),
		scopes: [...scopesOf(user.role)],
		needs_totp_setup: await access.needsTotpSetup({ session, user }),
		expires_at: timestamp(session.expires_at),
	});

	return [
		...oidcRoutes(options, present),

		anonymousRoute(operations.createSession, async ({ body, origin, audit }) => {
			const signedIn = await sessions.signIn(body, origin, audit);
			if ('pendingCookie' in signedIn) {
				return { refusal: new AppError('second_factor_required'), cookies: [signedIn.pendingCookie] };
			}
			await credentialMonitor.recheckAll();
			return { result: await present(signedIn), cookies: [signedIn.setCookie, signedIn.deviceCookie] };
		}),

		anonymousRoute(operations.continueSignIn, async ({ body, origin, audit }) => {
			const signedIn = await sessions.continueSignIn(body.code, origin, audit);
			await credentialMonitor.recheckAll();
			const cookies = [signedIn.setCookie, signedIn.deviceCookie, signedIn.pendingCookie];
			return { result: await present(signedIn), cookies };
		}),

		userRoute(operations.getSession, async ({ caller }) => ({ result: await present(caller.userSession) })),

		userRoute(operations.deleteSession, async ({ caller, audit }) => {
			const { id } = caller.userSession.session;
			const cookie = await sessions.signOut(caller.userSession, audit);
			await credentialMonitor.recheckAll();
			return { result: { id, deleted: true as const }, cookies: [cookie] };
		}),

		anonymousRoute(operations.setPassword, async ({ body, origin, audit }) => {
			const requireSettable = passwordSignIn.requireSettable.bind(passwordSignIn);
			const user = await users.setPassword(body.token, body.password, audit, requireSettable);
			await credentialMonitor.recheckAll();
			const workspace = presentWorkspace(await requireWorkspace(store, user.workspace_id));
			const cookie = sessions.deviceCookie(user, origin.cookies);
			return { result: { user: presentUser(user), workspace }, cookies: [cookie, passwordSignIn.permit(user)] };
		}),
	];
}
