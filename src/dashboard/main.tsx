import { render } from 'preact';
import { CurrentPage, preloadPage } from './app/pages.tsx';
import { loadSession, sessionState } from './app/session.ts';
import { EmptyShell, Shell } from './app/shell.tsx';
import { SignIn } from './app/sign-in.tsx';
import { ErrorState } from './components/page.tsx';
import { loadLanguage } from './languages/index.ts';

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
			return <SignIn hasExpired={state.status === 'expired'} />;
		case 'signed-in':
			return (
				<Shell>
					<CurrentPage />
				</Shell>
			);
	}
}

// Texts, session and page are on their way at once: a slow line waits for the slowest of them only.
const session = loadSession();
preloadPage();
await loadLanguage();
// The empty frame that the document has until now.
document.body.replaceChildren();
render(<Dashboard />, document.body);
await session;
