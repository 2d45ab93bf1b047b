import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ErrorState, LoadingLines } from '../components/page.tsx';
import { SecretDialog } from '../components/secret-once.tsx';
import { strings } from '../languages/index.ts';
import { loadSession, signOut } from './session.ts';
import { Toasts } from './toasts.tsx';

/** What a person sees whose workspace requires a second factor, until it is set up. */
export function SecondFactorGate() {
	const s = strings();
	const [Setup, setSetup] = useState<ComponentType | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const load = () => {
		setError(null);
		import('../pages/account/second-factor.tsx').then(({ SecondFactor }) => setSetup(() => SecondFactor), setError);
	};
	useEffect(() => {
		document.title = `${s.secondFactorRequired} – Parley`;
		load();
	}, []);
	return (
		<main class="sign-in">
			<h1>{s.secondFactorRequired}</h1>
			<p>{s.secondFactorRequiredText}</p>
			{Setup ? <Setup /> : error ? <ErrorState error={error} onRetry={load} /> : <LoadingLines />}
			<Button look="quiet" onClick={() => void signOut().catch(() => loadSession())}>
				{s.signOut}
			</Button>
			<Toasts />
			<SecretDialog />
		</main>
	);
}
