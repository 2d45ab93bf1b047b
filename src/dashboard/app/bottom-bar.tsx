import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { strings } from '../languages/index.ts';
import { AccountControls } from './account-controls.tsx';
import { currentPageName, pagesOf } from './pages.tsx';
import { openPalette } from './palette-host.tsx';
import { PageLinks } from './rail.tsx';
import { route } from './route.ts';
import { currentSession } from './session.ts';

/** Sections that a phone shows at its lower edge. */
const SHOWN = 4;

/** The navigation of phones: the first sections, and a menu with the others, the settings and the account. */
export function BottomBar() {
	const s = strings();
	const [isOpen, setOpen] = useState(false);
	const main = pagesOf('main');
	const others = [...main.slice(SHOWN), ...pagesOf('settings'), ...pagesOf('account')];
	const isOther = others.some(({ name }) => name === currentPageName());
	return (
		<nav class="bottom-bar" aria-label={s.navigation}>
			<PageLinks pages={main.slice(0, SHOWN)} />
			<button type="button" aria-haspopup="dialog" class={isOther ? 'current' : ''} onClick={() => setOpen(true)}>
				<Icon name="more" />
				<span>{s.more}</span>
			</button>
			{isOpen && <MoreMenu onClose={() => setOpen(false)} pages={others} />}
		</nav>
	);
}

function MoreMenu({ pages, onClose }: { pages: ReturnType<typeof pagesOf>; onClose: () => void }) {
	const s = strings();
	const dialog = useRef<HTMLDialogElement>(null);
	const page = route.value;
	const openedAt = useRef(page);
	useEffect(() => dialog.current?.showModal(), []);
	// Before the title of the new page gets the focus: behind an open dialog it could not have it.
	useLayoutEffect(() => {
		if (page !== openedAt.current) dialog.current?.close();
	}, [page]);
	return (
		<dialog
			ref={dialog}
			class="more-menu"
			aria-label={s.more}
			onClose={onClose}
			onPointerDown={(event) => event.target === dialog.current && dialog.current?.close()}
		>
			<div class="rail-head">
				<p class="workspace">{currentSession().workspace.name}</p>
				<button type="button" class="icon-button" aria-label={s.close} onClick={() => dialog.current?.close()}>
					<Icon name="close" />
				</button>
			</div>
			<button
				type="button"
				class="open-palette"
				onClick={() => {
					dialog.current?.close();
					openPalette();
				}}
			>
				<Icon name="search" />
				<span>{s.search}</span>
			</button>
			<PageLinks pages={pages} />
			<AccountControls />
		</dialog>
	);
}
