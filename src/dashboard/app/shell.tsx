import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { liveState } from '../api/live.ts';
import { ConfirmDialog } from '../components/confirm.tsx';
import { LoadingLines } from '../components/page.tsx';
import { SecretDialog } from '../components/secret-once.tsx';
import { strings } from '../languages/index.ts';
import { BottomBar } from './bottom-bar.tsx';
import { decideStart } from './first-run.ts';
import { PaletteHost } from './palette-host.tsx';
import { isRailCollapsed, Rail } from './rail.tsx';
import { route } from './route.ts';
import { Toasts } from './toasts.tsx';

/** The frame of every page: the navigation, and the page. */
export function Shell({ children }: { children: ComponentChildren }) {
	useEffect(() => void decideStart(), []);
	return (
		<div class={isRailCollapsed.value ? 'shell collapsed' : 'shell'}>
			<button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
				{strings().skipToContent}
			</button>
			<Rail />
			<Content>{children}</Content>
			<BottomBar />
			<PaletteHost />
			<Toasts />
			<ConfirmDialog />
			<SecretDialog />
		</div>
	);
}

/** The frame while it is not known who is signed in. The document has the same before the script runs. */
export function EmptyShell() {
	return (
		<div class={isRailCollapsed.value ? 'shell collapsed' : 'shell'}>
			<div class="rail" />
			<main>
				<LoadingLines />
			</main>
		</div>
	);
}

/** The page. The focus goes to its title when another page is shown. */
function Content({ children }: { children: ComponentChildren }) {
	const main = useRef<HTMLElement>(null);
	const page = route.value.path.join('/');
	const isFirst = useRef(true);
	useLayoutEffect(() => {
		const isStart = isFirst.current;
		isFirst.current = false;
		if (isStart) return;
		// This component is rendered before its page, in the same task. A microtask runs after both, and before the next key: a field that
		// a key chooses must keep the focus.
		queueMicrotask(() => {
			main.current?.scrollTo(0, 0);
			(main.current?.querySelector('h1') ?? main.current)?.focus();
		});
	}, [page]);
	return (
		<main id="content" tabIndex={-1} ref={main}>
			<ConnectionLine />
			{children}
		</main>
	);
}

/** Says that changes do not arrive at the moment. */
function ConnectionLine() {
	const isLost = liveState.value === 'lost';
	return (
		<p class={isLost ? 'connection' : 'visually-hidden'} role="status">
			{isLost && strings().connectionLost}
		</p>
	);
}
