import { api, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { type PasswordLink, ROLES, type Role, type User } from './queries.ts';

/** The role of a person, as a choice where it may be changed. A refused change shows the stored role again. */
export function RoleCell({ user: { id, name, role }, isChangeable }: { user: User; isChangeable: boolean }) {
	const t = strings().accessPages;
	const change = useAction(async (next: Role) => {
		const values = { name, role: t.roles[next] };
		const question = { title: fill(t.roleTitle, values), text: t.roleText, action: t.roleAction };
		if (await confirm(question)) {
			await api.PATCH('/api/v1/users/{id}', { params: { path: { id } }, body: { role: next } });
			showToast(fill(t.roleChanged, values));
		}
		await invalidate('users');
	});
	if (!isChangeable) return <>{t.roles[role]}</>;
	return (
		<select
			aria-label={fill(t.roleOf, { name })}
			title={t.roleHints[role]}
			value={role}
			disabled={change.isBusy}
			onChange={(event) => {
				const chosen = event.currentTarget.value as Role;
				// The list shows the stored role until the change is stored.
				event.currentTarget.value = role;
				void change.run(chosen);
			}}
		>
			{ROLES.filter((each) => each !== 'owner' || may('*')).map((each) => (
				<option key={each} value={each}>
					{t.roles[each]}
				</option>
			))}
		</select>
	);
}

/** A new password link, deactivation, the removal of a lost second factor, and of a person. */
export function PersonActions({
	user: { id, name, status, has_totp },
	onLink,
}: {
	user: User;
	onLink: (link: PasswordLink) => void;
}) {
	const t = strings().accessPages;
	const params = { path: { id } };
	const invite = useAction(async () => {
		const question = { title: fill(t.newLinkTitle, { name }), text: t.newLinkText, action: t.newLink };
		if (!(await confirm(question))) return;
		onLink(await resultOf(api.POST('/api/v1/users/{id}/password-link', { params })));
	});
	const resetTotp = useAction(async () => {
		const question = { title: fill(t.resetTotpTitle, { name }), text: t.resetTotpText, action: t.secondFactorRemove };
		if (!(await confirm(question))) return;
		await api.POST('/api/v1/users/{id}/reset-totp', { params });
		showToast(fill(t.resetTotpDone, { name }));
		await invalidate('users');
	});
	const isActive = status === 'active';
	const changeStatus = useAction(async () => {
		const question = { title: fill(t.deactivateTitle, { name }), text: t.deactivateText, action: t.deactivate };
		if (isActive && !(await confirm(question))) return;
		const body = { status: isActive ? 'deactivated' : 'active' } as const;
		await api.PATCH('/api/v1/users/{id}', { params, body });
		showToast(fill(isActive ? t.deactivateDone : t.activateDone, { name }));
		await invalidate('users');
	});
	const remove = useAction(async () => {
		const question = { title: fill(t.removeTitle, { name }), text: t.removeText, action: t.remove };
		if (!(await confirm(question))) return;
		await api.DELETE('/api/v1/users/{id}', { params });
		showToast(fill(t.removed, { name }));
		await invalidate('users');
	});
	return (
		<div class="actions">
			<Button isBusy={invite.isBusy} onClick={() => void invite.run()}>
				{t.newLink}
			</Button>
			{has_totp && (
				<Button isBusy={resetTotp.isBusy} onClick={() => void resetTotp.run()}>
					{t.secondFactorRemove}
				</Button>
			)}
			<Button isBusy={changeStatus.isBusy} onClick={() => void changeStatus.run()}>
				{isActive ? t.deactivate : t.activate}
			</Button>
			<Button isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{t.remove}
			</Button>
		</div>
	);
}
