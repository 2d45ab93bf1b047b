import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { sentenceOf } from '../components/page.tsx';
import { strings } from '../languages/index.ts';
import { signIn } from './session.ts';

/** The form that signs a person in. @param hasExpired the session ended while the dashboard was open */
export function SignIn({ hasExpired }: { hasExpired: boolean }) {
	const s = strings();
	const [email, setEmail] = useState('');
	const [password, setPassword] = useState('');
	const [error, setError] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	useEffect(() => {
		document.title = `${s.signInTitle} – Parley`;
		document.querySelector('input')?.focus();
	}, []);
	const submit = async (event: Event) => {
		event.preventDefault();
		setBusy(true);
		setError(null);
		try {
			await signIn(email.trim(), password);
		} catch (failure) {
			setError(sentenceOf(failure as Error));
			setBusy(false);
		}
	};
	return (
		<main class="sign-in">
			<h1>{s.signInTitle}</h1>
			{hasExpired && <p role="status">{s.signInExpired}</p>}
			<form class="card" onSubmit={(event) => void submit(event)}>
				<TextField label={s.email} type="email" autocomplete="username" required value={email} onChange={setEmail} />
				<TextField
					label={s.password}
					type="password"
					autocomplete="current-password"
					required
					value={password}
					onChange={setPassword}
				/>
				{error && (
					<p class="field-error" role="alert">
						{error}
					</p>
				)}
				<Button type="submit" look="primary" isBusy={isBusy}>
					{s.signIn}
				</Button>
			</form>
			<p class="soft">{s.signInHint}</p>
		</main>
	);
}
