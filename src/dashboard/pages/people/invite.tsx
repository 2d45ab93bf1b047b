import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { may } from '../../app/session.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { CreateForm } from '../../forms/create-form.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';
import { type PasswordLink, ROLES, type Role } from './queries.ts';

/** The form that makes a person's account and the link for the password. */
export function InviteForm({ onInvited, onCancel }: { onInvited: (link: PasswordLink) => void; onCancel: () => void }) {
	const s = strings();
	const t = s.accessPages;
	const [email, setEmail] = useState('');
	const [name, setName] = useState('');
	const [role, setRole] = useState<Role>('member');
	const invite = useAction(async () => {
		const body = { email: email.trim(), role, ...(name.trim() === '' ? {} : { name: name.trim() }) };
		onInvited(await resultOf(api.POST('/api/v1/users', { body })));
	}, ['/email', '/name', '/role']);
	const given = ROLES.filter((each) => each !== 'owner' || may('*'));
	return (
		<CreateForm action={t.makeLink} isBusy={invite.isBusy} cancel={onCancel} onCreate={() => void invite.run()}>
			<h2>{t.inviteTitle}</h2>
			<p class="soft form-text">{t.inviteText}</p>
			<TextField
				label={s.email}
				type="email"
				required
				maxLength={254}
				value={email}
				error={invite.rejected?.messageFor('/email')}
				onChange={setEmail}
			/>
			<TextField
				label={t.name}
				maxLength={200}
				value={name}
				error={invite.rejected?.messageFor('/name')}
				onChange={setName}
			/>
			<SelectField
				label={t.role}
				hint={t.roleHints[role]}
				value={role}
				options={given.map((each) => ({ value: each, label: t.roles[each] }))}
				error={invite.rejected?.messageFor('/role')}
				onChange={(value) => setRole(value as Role)}
			/>
		</CreateForm>
	);
}
