import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ConfirmDialog } from '../components/confirm.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { chooseLanguage, LANGUAGES, type Language, language, strings } from '../languages/index.ts';
import { currentPageName } from './pages.tsx';
import { linkTo, route } from './route.ts';
import { currentSession, signOut } from './session.ts';
import { showToast, Toasts } from './toasts.tsx';

/** A page in the rail. */
interface Section {
	page: string;
	icon: IconName;
	label: string;
}

/** The frame of every page: the rail with the sections, and the page. */
export function Shell({ children }: { children: ComponentChildren }) {
	const s = strings();
	const sections: Section[] = [{ page: 'assistants', icon: 'assistants', label: s.assistants }];
	return (
		<div class="shell">
			<button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
				{s.skipToContent}
			</button>
			<nav class="rail" aria-label={s.navigation}>
				<p class="workspace">{currentSession().workspace.name}</p>
				<ul>
					{sections.map(({ page, icon, label }) => (
						<li key={page}>
							<a href={linkTo([page])} aria-current={currentPageName() === page ? 'page' : undefined}>
								<Icon name={icon} />
								<span>{label}</span>
							</a>
						</li>
					))}
				</ul>
				<Account />
			</nav>
			<Content>{children}</Content>
			<Toasts />
			<ConfirmDialog />
		</div>
	);
}

/** The page. The focus goes to its title when another page is shown. */
function Content({ children }: { children: ComponentChildren }) {
	const main = useRef<HTMLElement>(null);
	const page = route.value.path.join('/');
	const isFirst = useRef(true);
	useEffect(() => {
		if (!isFirst.current) (main.current?.querySelector('h1') ?? main.current)?.focus();
		isFirst.current = false;
	}, [page]);
	return (
		<main id="content" tabIndex={-1} ref={main}>
			{children}
		</main>
	);
}

/** Who is signed in, the language, and the way out. */
function Account() {
	const s = strings();
	const { user } = currentSession();
	const leave = () => signOut().catch((error: Error) => showToast(error.message, { isError: true }));
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
