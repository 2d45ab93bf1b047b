import { api, resultOf } from '../api/client.ts';
import type { AuthorizationAnswer } from './session.ts';

/** The page of the dashboard to which a sign-in returns. */
const RETURN_KEY = 'parley-return';

/** Goes to the identity provider, which sends the browser back to the dashboard. */
export async function beginOidcSignIn(): Promise<void> {
	const { url } = await resultOf(api.POST('/api/v1/session/oidc'));
	sessionStorage.setItem(RETURN_KEY, location.hash);
	location.assign(url);
}

/**
 * The answer of the identity provider in the address, which it takes away from there and from the history. The page from before is in
 * the address again. Null where there is no answer.
 */
export function takeAuthorizationAnswer(): AuthorizationAnswer | null {
	const query = new URLSearchParams(location.search);
	const state = query.get('state');
	if (state === null) return null;
	const hash = sessionStorage.getItem(RETURN_KEY) ?? '';
	sessionStorage.removeItem(RETURN_KEY);
	history.replaceState(null, '', location.pathname + hash);
	// The route reads the address again.
	dispatchEvent(new HashChangeEvent('hashchange'));
	const answer: AuthorizationAnswer = { state };
	for (const name of ['code', 'iss', 'error'] as const) {
		const value = query.get(name);
		if (value) answer[name] = value;
	}
	return answer;
}
