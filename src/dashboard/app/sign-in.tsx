import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { sentenceOf } from '../components/page.tsx';
import { strings } from '../languages/index.ts';
import { continueSignIn, signIn } from './session.ts';

/** Signs a person in: the password, then a code where the account needs one. @param hasExpired the session ended while the dashboard was open */
export function SignIn({ hasExpired }: { hasExpired: boolean }) {
	const s = strings();
	const [needsCode, setNeedsCode] = useState(false);
	useEffect(() => {
		document.title = `${s.signInTitle} – Parley`;
	}, []);
	return (
		<main class="sign-in">
			<h1>{s.signInTitle}</h1>
			{hasExpired && <p role="status">{s.signInExpired}</p>}
			{needsCode ? (
				<CodeForm onBack={() => setNeedsCode(false)} />
			) : (
				<PasswordForm onCodeNeeded={() => setNeedsCode(true)} />
			)}
		</main>
	);
}

function PasswordForm({ onCodeNeeded }: { onCodeNeeded: () => void }) {
	const s = strings();
	const [email, setEmail] = useState('');
	const [password, setPassword] = useState('');
	const submit = async () => {
		try {
			await signIn(email.trim(), password);
		} catch (failure) {
			if (!(failure instanceof ApiError && failure.code === 'second_factor_required')) throw failure;
			onCodeNeeded();
		}
	};
	return (
		<>
			<StepForm submit={submit}>
				<TextField label={s.email} type="email" autocomplete="username" required value={email} onChange={setEmail} />
				<TextField
					label={s.password}
					type="password"
					autocomplete="current-password"
					required
					value={password}
					onChange={setPassword}
				/>
			</StepForm>
			<p class="soft">{s.signInHint}</p>
		</>
	);
}

function CodeForm({ onBack }: { onBack: () => void }) {
	const s = strings();
	const [code, setCode] = useState('');
	return (
		<>
			<StepForm submit={() => continueSignIn(code.trim())}>
				<TextField
					label={s.signInCode}
					hint={s.signInCodeHint}
					autocomplete="one-time-code"
					required
					maxLength={40}
					value={code}
					onChange={setCode}
				/>
			</StepForm>
			<Button look="quiet" onClick={onBack}>
				{s.signInBack}
			</Button>
		</>
	);
}

/** The form of one step, with its error. Its first field has the focus. */
function StepForm({ submit, children }: { submit: () => Promise<void>; children: ComponentChildren }) {
	const s = strings();
	const form = useRef<HTMLFormElement>(null);
	const [error, setError] = useState<string | null>(null);
	const [isBusy, setBusy] = useState(false);
	useEffect(() => form.current?.querySelector('input')?.focus(), []);
	const run = async (event: Event) => {
		event.preventDefault();
		setBusy(true);
		setError(null);
		try {
			await submit();
		} catch (failure) {
			setError(sentenceOf(failure as Error));
			setBusy(false);
		}
	};
	return (
		<form class="card" ref={form} onSubmit={(event) => void run(event)}>
			{children}
			{error && (
				<p class="field-error" role="alert">
					{error}
				</p>
			)}
			<Button type="submit" look="primary" isBusy={isBusy}>
				{s.signIn}
			</Button>
		</form>
	);
}
