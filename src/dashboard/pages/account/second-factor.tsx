import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { currentSession, loadSession, replaceUser } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { showSecretOnce } from '../../components/secret-once.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';

type TotpSecret = Resource<'TotpSecret'>;

/** Sets up and removes the second factor of the own account. */
export function SecondFactor() {
	const t = strings().accessPages;
	const { user } = currentSession();
	const [begun, setBegun] = useState<TotpSecret | null>(null);
	return (
		<section class="card" aria-label={t.secondFactor}>
			<h2>{t.secondFactor}</h2>
			{user.has_totp ? <Removal /> : begun ? <Confirmation begun={begun} /> : <Beginning onBegun={setBegun} />}
		</section>
	);
}

function Beginning({ onBegun }: { onBegun: (secret: TotpSecret) => void }) {
	const t = strings().accessPages;
	return (
		<PasswordStep
			text={t.secondFactorText}
			action={t.secondFactorBegin}
			run={async (current_password) =>
				onBegun(await resultOf(api.POST('/api/v1/session/totp', { body: { current_password } })))
			}
		/>
	);
}

function Removal() {
	const t = strings().accessPages;
	return (
		<PasswordStep
			text={t.secondFactorOn}
			action={t.secondFactorRemove}
			run={async (current_password) => {
				replaceUser(await resultOf(api.POST('/api/v1/session/totp/disable', { body: { current_password } })));
				showToast(t.secondFactorRemoved);
			}}
		/>
	);
}

/** Scans the code, and proves by its first code that it works. */
function Confirmation({ begun: { secret, uri } }: { begun: TotpSecret }) {
	const t = strings().accessPages;
	const [code, setCode] = useState('');
	const confirm = useAction(async () => {
		const body = { code: code.trim() };
		const { recovery_codes } = await resultOf(api.POST('/api/v1/session/totp/confirm', { body }));
		await showSecretOnce({
			title: t.recoveryCodes,
			text: t.recoveryCodesText,
			label: t.recoveryCodes,
			secret: recovery_codes.join(' '),
		});
		const { user, needs_totp_setup } = currentSession();
		if (needs_totp_setup) return loadSession();
		replaceUser({ ...user, has_totp: true });
		await invalidate('account', 'sessions');
	}, ['/code']);
	return (
		<StepForm action={t.secondFactorConfirm} isBusy={confirm.isBusy} onSubmit={() => void confirm.run()}>
			<p class="form-text">{t.secondFactorScan}</p>
			<QrCode text={uri} label={t.secondFactorQr} />
			<p class="hint form-text">
				{t.secondFactorSecret} <code class="whole-words">{secret}</code>
			</p>
			<TextField
				label={t.secondFactorCode}
				autocomplete="one-time-code"
				inputMode="numeric"
				required
				maxLength={40}
				value={code}
				error={confirm.rejected?.messageFor('/code')}
				onChange={setCode}
			/>
		</StepForm>
	);
}

/** A step that needs the present password. */
function PasswordStep({
	text,
	action,
	run,
}: {
	text: string;
	action: string;
	run: (password: string) => Promise<void>;
}) {
	const t = strings().accessPages;
	const [password, setPassword] = useState('');
	const step = useAction(() => run(password), ['/current_password']);
	return (
		<StepForm action={action} isBusy={step.isBusy} onSubmit={() => void step.run()}>
			<p class="form-text">{text}</p>
			<TextField
				label={t.currentPassword}
				type="password"
				autocomplete="current-password"
				required
				maxLength={200}
				value={password}
				error={step.rejected?.messageFor('/current_password')}
				onChange={setPassword}
			/>
		</StepForm>
	);
}

function StepForm({
	action,
	isBusy,
	onSubmit,
	children,
}: {
	action: string;
	isBusy: boolean;
	onSubmit: () => void;
	children: ComponentChildren;
}) {
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				onSubmit();
			}}
		>
			{children}
			<Button type="submit" isBusy={isBusy}>
				{action}
			</Button>
		</form>
	);
}
