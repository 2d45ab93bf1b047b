import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ButtonLink } from '../components/button.tsx';
import { ErrorState, LoadingLines, PageHeader } from '../components/page.tsx';
import { strings } from '../languages/index.ts';
import { linkTo, route } from './route.ts';

/** A page. It gets the path behind its name, for example `['asst_1']`. */
export type Page = ComponentType<{ path: readonly string[] }>;

/** The pages by the first part of their path. Each is loaded when it is first shown. */
const PAGES: Readonly<Record<string, () => Promise<{ default: Page }>>> = {
	assistants: () => import('../pages/assistants/index.tsx'),
};

const START = 'assistants';
const loadedPages = new Map<string, Page>();

/** The first part of the route's path; at the start, the page that is shown there. */
export function currentPageName(): string {
	return route.value.path[0] ?? START;
}

/** The page of the route. */
export function CurrentPage() {
	const name = currentPageName();
	const path = route.value.path.slice(1);
	const [error, setError] = useState<Error | null>(null);
	const [, render] = useState(0);
	const load = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
	const start = () => {
		if (load === undefined || loadedPages.has(name)) return;
		setError(null);
		load().then(
			({ default: page }) => {
				loadedPages.set(name, page);
				render((count) => count + 1);
			},
			(failure: Error) => setError(failure),
		);
	};
	useEffect(start, [name]);
	if (load === undefined) return <MissingPage />;
	const Shown = loadedPages.get(name);
	if (Shown) return <Shown key={name} path={path} />;
	return error ? <ErrorState error={error} onRetry={start} /> : <LoadingLines />;
}

function MissingPage() {
	const s = strings();
	return (
		<PageHeader title={s.pageMissingTitle} purpose={s.pageMissingText}>
			<ButtonLink href={linkTo([])}>{s.toStart}</ButtonLink>
		</PageHeader>
	);
}
