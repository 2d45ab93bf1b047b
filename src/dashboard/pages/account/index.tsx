import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { currentSession, replaceUser } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { PageHeader } from '../../components/page.tsx';
import { useAction } from '../../forms/use-action.ts';
import { chooseLanguage, LANGUAGES, type Language, language, strings } from '../../languages/index.ts';
import { PasswordForm } from './password.tsx';
import { SecondFactor } from './second-factor.tsx';
import { SessionList } from './sessions.tsx';

/** The account of the signed-in user. */
export default function Account() {
	const t = strings().accessPages;
	// People of an identity provider may have no password, to which these belong.
	const { has_password } = currentSession().user;
	return (
		<>
			<PageHeader title={t.titles.account} purpose={t.accountPurpose} />
			<div class="columns">
				<div>
					<Profile />
					{has_password && <PasswordForm />}
					{has_password && <SecondFactor />}
				</div>
				<SessionList />
			</div>
		</>
	);
}

function Profile() {
	const s = strings();
	const t = s.accessPages;
	const { user } = currentSession();
	const [name, setName] = useState(user.name);
	const save = useAction(async () => {
		replaceUser(await resultOf(api.PATCH('/api/v1/session/account', { body: { name: name.trim() } })));
		showToast(s.saved);
	}, ['/name']);
	return (
		<form
			class="card"
			onSubmit={(event) => {
				event.preventDefault();
				void save.run();
			}}
		>
			<h2>{t.profile}</h2>
			<TextField
				label={t.name}
				hint={t.nameHint}
				required
				maxLength={200}
				value={name}
				error={save.rejected?.messageFor('/name')}
				onChange={setName}
			/>
			<TextField label={s.email} hint={t.emailHint} disabled value={user.email} onChange={() => {}} />
			<SelectField
				label={s.language}
				hint={t.languageHint}
				value={language.value}
				options={LANGUAGES}
				onChange={(value) => void chooseLanguage(value as Language)}
			/>
			<Button type="submit" look="primary" isBusy={save.isBusy} disabled={name.trim() === user.name}>
				{s.save}
			</Button>
		</form>
	);
}
