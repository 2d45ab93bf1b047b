import { render } from 'preact';
import { ErrorState } from '../components/page.tsx';
import { loadLanguage } from '../languages/index.ts';
import './parts.ts';
import { takeAuthorizationAnswer } from './oidc.ts';
import { CurrentPage } from './pages.tsx';
import { SecondFactorGate } from './second-factor-gate.tsx';
import { finishOidcSignIn, loadSession, sessionState } from './session.ts';
import { EmptyShell, Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

/** What the state of the session shows. */
function Dashboard() {
	const state = sessionState.value;
	switch (state.status) {
		case 'unknown':
			return <EmptyShell />;
		case 'failed':
			return <ErrorState error={state.error} onRetry={() => void loadSession()} />;
		case 'signed-out':
		case 'expired':
			return (
				<SignIn
					hasExpired={state.status === 'expired'}
					problem={state.status === 'signed-out' ? state.problem : undefined}
				/>
			);
		case 'signed-in':
			if (state.session.needs_totp_setup) return <SecondFactorGate />;
			return (
				<Shell>
					<CurrentPage />
				</Shell>
			);
	}
}

/**
 * Shows the dashboard.
 * @param sessionResponse the response to the request for the session, which is on its way already
 */
export async function start(sessionResponse: Promise<Response>): Promise<void> {
	const answer = takeAuthorizationAnswer();
	const session = answer === null ? loadSession(sessionResponse) : finishOidcSignIn(answer);
	await loadLanguage();
	// The empty frame that the document has until now.
	document.body.replaceChildren();
	render(<Dashboard />, document.body);
	await session;
}
