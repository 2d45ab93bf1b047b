import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { api, type Resource, resultOf } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { sentenceOf } from '../components/page.tsx';
import { fill, strings } from '../languages/index.ts';
import { beginOidcSignIn } from './oidc.ts';
import { continueSignIn, signIn } from './session.ts';

type SignInMethods = Resource<'SignInMethods'>;

export interface SignInProps {
	/** The session ended while the dashboard was open. */
	hasExpired: boolean;
	/** Why the sign-in with the identity provider has failed. */
	problem?: Error | undefined;
}

/** Signs a person in: with the identity provider, or the password and then a code where the account needs one. */
export function SignIn({ hasExpired, problem }: SignInProps) {
	const s = strings();
	const [methods, setMethods] = useState<SignInMethods | null>(null);
	const [needsCode, setNeedsCode] = useState(false);
	useEffect(() => {
		document.title = `${s.signInTitle} – Parley`;
		// Without an answer, the password shows the failure.
		const fallback = { password: true, oidc: null };
		resultOf(api.GET('/api/v1/session/methods')).then(setMethods, () => setMethods(fallback));
	}, []);
	return (
		<main class="sign-in">
			<h1>{s.signInTitle}</h1>
			{hasExpired && <p role="status">{s.signInExpired}</p>}
			{problem && <Problem error={problem} />}
			{needsCode ? (
				<CodeForm onBack={() => setNeedsCode(false)} />
			) : (
				methods && (
					<>
						{methods.password && <PasswordForm onCodeNeeded={() => setNeedsCode(true)} />}
						{methods.oidc && <OidcButton label={methods.oidc.label} isOnly={!methods.password} />}
						{!methods.oidc && <p class="soft">{s.signInHint}</p>}
					</>
				)
			)}
		</main>
	);
}

/** Goes to the identity provider. */
function OidcButton({ label, isOnly }: { label: string; isOnly: boolean }) {
	const [error, setError] = useState<Error | null>(null);
	const [isBusy, setBusy] = useState(false);
	const go = async () => {
		setBusy(true);
		setError(null);
		try {
			await beginOidcSignIn();
		} catch (failure) {
			setError(failure as Error);
			setBusy(false);
		}
	};
	return (
		<div class="other-way">
			<Button look={isOnly ? 'primary' : 'secondary'} isBusy={isBusy} onClick={() => void go()}>
				{fill(strings().signInWith, { label })}
			</Button>
			{error && <Problem error={error} />}
		</div>
	);
}

function Problem({ error }: { error: Error }) {
	return (
		<p class="field-error" role="alert">
			{sentenceOf(error)}
		</p>
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
	const [error, setError] = useState<Error | null>(null);
	const [isBusy, setBusy] = useState(false);
	useEffect(() => form.current?.querySelector('input')?.focus(), []);
	const run = async (event: Event) => {
		event.preventDefault();
		setBusy(true);
		setError(null);
		try {
			await submit();
		} catch (failure) {
			setError(failure as Error);
			setBusy(false);
		}
	};
	return (
		<form class="card" ref={form} onSubmit={(event) => void run(event)}>
			{children}
			{error && <Problem error={error} />}
			<Button type="submit" look="primary" isBusy={isBusy}>
				{s.signIn}
			</Button>
		</form>
	);
}
