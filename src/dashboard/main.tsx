import { render } from 'preact';
import { CurrentPage } from './app/pages.tsx';
import { loadSession, sessionState } from './app/session.ts';
import { Shell } from './app/shell.tsx';
import { SignIn } from './app/sign-in.tsx';
import { ErrorState, LoadingLines } from './components/page.tsx';
import { loadLanguage } from './languages/index.ts';

/** What the state of the session shows. */
function Dashboard() {
	const state = sessionState.value;
	switch (state.status) {
		case 'unknown':
			return <LoadingLines />;
		case 'failed':
			return <ErrorState error={state.error} onRetry={() => void loadSession()} />;
		case 'signed-out':
		case 'expired':
			return <SignIn hasExpired={state.status === 'expired'} />;
		case 'signed-in':
			return (
				<Shell>
					<CurrentPage />
				</Shell>
			);
	}
}

await loadLanguage();
render(<Dashboard />, document.body);
await loadSession();
