import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { currentSession } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';

/** The form that changes the own password with the present one. */
export function PasswordForm() {
	const t = strings().accessPages;
	const [present, setPresent] = useState('');
	const [next, setNext] = useState('');
	const change = useAction(async () => {
		await api.PATCH('/api/v1/session/account', { body: { current_password: present, password: next } });
		setPresent('');
		setNext('');
		showToast(t.passwordChanged);
		await invalidate('account', 'sessions');
	}, ['/current_password', '/password']);
	return (
		<form
			class="card"
			onSubmit={(event) => {
				event.preventDefault();
				void change.run();
			}}
		>
			<h2>{t.changePassword}</h2>
			{/* Password managers then know whose password changes. */}
			<input type="hidden" name="username" autocomplete="username" value={currentSession().user.email} />
			<TextField
				label={t.currentPassword}
				type="password"
				autocomplete="current-password"
				required
				maxLength={200}
				value={present}
				error={change.rejected?.messageFor('/current_password')}
				onChange={setPresent}
			/>
			<TextField
				label={t.newPassword}
				hint={t.newPasswordHint}
				type="password"
				autocomplete="new-password"
				required
				maxLength={200}
				value={next}
				error={change.rejected?.messageFor('/password')}
				onChange={setNext}
			/>
			<Button type="submit" isBusy={change.isBusy}>
				{t.changePassword}
			</Button>
		</form>
	);
}
