import { signal } from '@preact/signals';
import { Icon } from '../components/icon.tsx';
import { strings } from '../languages/index.ts';
import { AccountControls } from './account-controls.tsx';
import { currentPageName, type PageEntry, pagesOf } from './pages.tsx';
import { openPalette } from './palette-host.tsx';
import { linkTo } from './route.ts';
import { currentSession } from './session.ts';

/** Where this browser keeps whether the rail is collapsed. */
const STORAGE_KEY = 'parley-rail';
const IS_APPLE = /Mac|iP(hone|ad)/.test(navigator.userAgent);

export const isRailCollapsed = signal(localStorage.getItem(STORAGE_KEY) === 'collapsed');

function toggle(): void {
	isRailCollapsed.value = !isRailCollapsed.value;
	localStorage.setItem(STORAGE_KEY, isRailCollapsed.value ? 'collapsed' : 'open');
}

/** The navigation at the left: the sections, and at its foot settings and account. */
export function Rail() {
	const s = strings();
	const settings = pagesOf('settings');
	const label = isRailCollapsed.value ? s.expandNavigation : s.collapseNavigation;
	return (
		<nav class="rail" aria-label={s.navigation}>
			<div class="rail-head">
				<p class="workspace" title={currentSession().workspace.name}>
					{currentSession().workspace.name}
				</p>
				<button
					type="button"
					class="icon-button"
					aria-label={label}
					title={label}
					aria-expanded={!isRailCollapsed.value}
					onClick={toggle}
				>
					<Icon name="rail" />
				</button>
			</div>
			<button type="button" class="open-palette" title={s.searchHint} onClick={openPalette}>
				<Icon name="search" />
				<span>{s.search}</span>
				<kbd>{IS_APPLE ? '⌘K' : 'Ctrl K'}</kbd>
			</button>
			<PageLinks pages={pagesOf('main')} />
			<div class="rail-foot">
				{settings.length > 0 && <h2>{s.settings}</h2>}
				<PageLinks pages={[...settings, ...pagesOf('account')]} />
				<AccountControls />
			</div>
		</nav>
	);
}

/** Links to pages. */
export function PageLinks({ pages }: { pages: readonly PageEntry[] }) {
	if (pages.length === 0) return null;
	return (
		<ul>
			{pages.map((page) => (
				<li key={page.name}>
					<PageLink page={page} />
				</li>
			))}
		</ul>
	);
}

function PageLink({ page: { name, icon, label } }: { page: PageEntry }) {
	const text = label(strings());
	return (
		<a href={linkTo([name])} title={text} aria-current={currentPageName() === name ? 'page' : undefined}>
			<Icon name={icon} />
			<span>{text}</span>
		</a>
	);
}
