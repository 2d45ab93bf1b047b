import { Icon } from '../components/icon.tsx';
import { sentenceOf } from '../components/page.tsx';
import { chooseLanguage, LANGUAGES, type Language, language, strings } from '../languages/index.ts';
import { currentSession, signOut } from './session.ts';
import { showToast } from './toasts.tsx';

/** Who is signed in, the language, and the way out. */
export function AccountControls() {
	const s = strings();
	const { user } = currentSession();
	const leave = () => signOut().catch((error: Error) => showToast(sentenceOf(error), { isError: true }));
	return (
		<div class="account">
			<p title={user.email}>{user.name || user.email}</p>
			<select
				aria-label={s.language}
				value={language.value}
				onChange={(event) => void chooseLanguage(event.currentTarget.value as Language)}
			>
				{LANGUAGES.map(({ value, label }) => (
					<option key={value} value={value} lang={value}>
						{label}
					</option>
				))}
			</select>
			<button type="button" class="icon-button" aria-label={s.signOut} title={s.signOut} onClick={() => void leave()}>
				<Icon name="sign-out" />
			</button>
		</div>
	);
}
