import type { CredentialMonitor, OidcSignIns, PasswordSignIn, UserSession } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import { operations, type Session } from '../contract/index.ts';
import type { Route } from '../http/index.ts';
import { anonymousRouteFactory, type SessionRouteOptions } from './session-route.ts';

export interface OidcRoutesOptions extends SessionRouteOptions {
	passwordSignIn: PasswordSignIn;
	/** Null without an identity provider. */
	oidcSignIns: OidcSignIns | null;
	credentialMonitor: CredentialMonitor;
}

/** The ways to sign in, and signing in with an identity provider. @param present a new session as the API shows it */
export function oidcRoutes(options: OidcRoutesOptions, present: (session: UserSession) => Promise<Session>): Route[] {
	const { passwordSignIn, oidcSignIns, credentialMonitor } = options;
	const anonymousRoute = anonymousRouteFactory(options);
	const requireOidc = (): OidcSignIns => {
		if (oidcSignIns !== null) return oidcSignIns;
		throw new AppError('not_found', 'This server has no identity provider (PARLEY_OIDC_ISSUER).');
	};

	return [
		anonymousRoute(operations.getSignInMethods, async ({ origin }) => ({
			result: {
				password: passwordSignIn.isOfferedTo(origin.cookies),
				oidc: oidcSignIns && { label: oidcSignIns.label },
			},
		})),

		anonymousRoute(operations.beginOidcSignIn, async () => {
			const { url, cookie } = await requireOidc().begin();
			return { result: { url }, cookies: [cookie] };
		}),

		anonymousRoute(operations.finishOidcSignIn, async ({ body, origin, audit }) => {
			const signIns = requireOidc();
			try {
				const signedIn = await signIns.finish(body, origin, audit);
				return { result: await present(signedIn), cookies: [signedIn.setCookie, signIns.clear()] };
			} catch (error) {
				if (error instanceof AppError && error.code !== 'unauthorized') {
					return { refusal: error, cookies: [signIns.clear()] };
				}
				throw error;
			} finally {
				// A new role, or none, ends the person's other sessions.
				await credentialMonitor.recheckAll();
			}
		}),
	];
}
