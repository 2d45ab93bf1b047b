import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ButtonLink } from '../components/button.tsx';
import type { IconName } from '../components/icon.tsx';
import { ErrorState, LoadingLines, PageHeader } from '../components/page.tsx';
import { type Strings, strings } from '../languages/index.ts';
import { showsGuide } from './first-run.ts';
import { linkTo, route } from './route.ts';
import { may, type Session } from './session.ts';

/** A page. It gets the path behind its name, for example `['asst_1']`. */
export type Page = ComponentType<{ path: readonly string[] }>;

export interface PageEntry {
	/** The first part of its path. */
	name: string;
	icon: IconName;
	label: (s: Strings) => string;
	/** What a person must be permitted to do to see it; null: everybody sees it. */
	scope: Session['scopes'][number] | null;
	/** Where the navigation has it. */
	group: 'main' | 'settings' | 'account';
	/** Whether it is there now. Default: always. */
	isShown?: () => boolean;
	/** Loads it when it is first shown. */
	load: () => Promise<{ default: Page }>;
}

/** The pages, in the order of the navigation. */
// biome-ignore format: one line for each page
const PAGES: readonly PageEntry[] = [
	{ name: 'start', icon: 'done', label: (s) => s.firstSteps, scope: 'assistants:write', group: 'main', isShown: () => showsGuide.value === true, load: () => import('../pages/start/index.tsx') },
	{ name: 'inbox', icon: 'inbox', label: (s) => s.inbox, scope: 'conversations:read', group: 'main', load: () => import('../pages/inbox/index.tsx') },
	{ name: 'assistants', icon: 'assistants', label: (s) => s.assistants, scope: 'assistants:read', group: 'main', load: () => import('../pages/assistants/index.tsx') },
	{ name: 'knowledge', icon: 'knowledge', label: (s) => s.knowledge, scope: 'knowledge_bases:read', group: 'main', load: () => import('../pages/knowledge/index.tsx') },
	{ name: 'deployments', icon: 'deployments', label: (s) => s.deployments, scope: 'deployments:read', group: 'main', load: () => import('../pages/deployments/index.tsx') },
	{ name: 'tools', icon: 'tools', label: (s) => s.tools, scope: 'tools:read', group: 'main', load: () => import('../pages/tools/index.tsx') },
	{ name: 'webhooks', icon: 'webhooks', label: (s) => s.webhooks, scope: 'webhooks:read', group: 'main', load: () => import('../pages/webhooks/index.tsx') },
	{ name: 'overview', icon: 'overview', label: (s) => s.overview, scope: 'conversations:read', group: 'main', load: () => import('../pages/overview/index.tsx') },
	{ name: 'canned-replies', icon: 'text', label: (s) => s.cannedReplyPages.title, scope: 'conversations:write', group: 'settings', load: () => import('../pages/canned-replies/index.tsx') },
	{ name: 'privacy', icon: 'privacy', label: (s) => s.privacyPages.title, scope: 'conversations:read', group: 'settings', load: () => import('../pages/privacy/index.tsx') },
	{ name: 'people', icon: 'people', label: (s) => s.people, scope: 'settings:read', group: 'settings', load: () => import('../pages/people/index.tsx') },
	{ name: 'api-keys', icon: 'api-keys', label: (s) => s.apiKeys, scope: 'settings:read', group: 'settings', load: () => import('../pages/api-keys/index.tsx') },
	{ name: 'workspace', icon: 'workspace', label: (s) => s.workspace, scope: 'settings:read', group: 'settings', load: () => import('../pages/workspace/index.tsx') },
	{ name: 'audit-log', icon: 'audit-log', label: (s) => s.auditLog, scope: 'settings:read', group: 'settings', load: () => import('../pages/audit-log/index.tsx') },
	{ name: 'account', icon: 'account', label: (s) => s.account, scope: null, group: 'account', load: () => import('../pages/account/index.tsx') },
];

const loadedPages = new Map<string, Page>();

/** The pages of a group that the signed-in person may see. */
export function pagesOf(group: PageEntry['group']): PageEntry[] {
	return PAGES.filter((page) => page.group === group && isPermitted(page) && page.isShown?.() !== false);
}

/** Whether there is such a page, and the signed-in person may see it. */
export function hasPage(name: string): boolean {
	return PAGES.some((page) => page.name === name && isPermitted(page));
}

function isPermitted({ scope }: PageEntry): boolean {
	return scope === null || may(scope);
}

/** The first part of the route's path; at the start, the page that is shown there, and null while that is not known. */
export function currentPageName(): string | null {
	const [name] = route.value.path;
	if (name !== undefined) return name;
	return showsGuide.value === null ? null : (pagesOf('main')[0]?.name ?? null);
}

/** The page of the route. */
export function CurrentPage() {
	const name = currentPageName();
	const path = route.value.path.slice(1);
	const [error, setError] = useState<Error | null>(null);
	const [, render] = useState(0);
	const entry = PAGES.find((page) => page.name === name);
	const start = () => {
		if (entry === undefined || loadedPages.has(entry.name)) return;
		setError(null);
		entry.load().then(
			({ default: page }) => {
				loadedPages.set(entry.name, page);
				render((count) => count + 1);
			},
			(failure: Error) => setError(failure),
		);
	};
	useEffect(start, [name]);
	if (name === null) return <LoadingLines />;
	if (entry === undefined || !isPermitted(entry)) return <MissingPage />;
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
