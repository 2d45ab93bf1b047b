// The entry of the dashboard: a small script that asks for everything the first page needs, so that a slow line waits for the slowest
// of it only. It is a bundle of its own: what it imports is in it a second time and shares no state with the rest.
import { wantedLanguage } from './languages/wanted-language.ts';

/** The files that are loaded later, each with those that it imports. The build fills it in. */
declare const MODULES: {
	languages: Readonly<Record<string, readonly string[]>>;
	/** By the first part of the page's path. */
	pages: Readonly<Record<string, readonly string[]>>;
};

/** The page at the start of the dashboard. */
const FIRST_PAGE = 'inbox';
/** What the inbox asks for first, character by character: of another request the answer would not be used. */
const FIRST_REQUESTS = ['api/v1/inbox?limit=100&unread=true', 'api/v1/inbox?limit=100&unread=false'];

function preload(properties: Partial<HTMLLinkElement>): void {
	document.head.append(Object.assign(document.createElement('link'), properties));
}

/** Loads files that are imported soon. */
function preloadModules(names: readonly string[] = []): void {
	for (const name of names) preload({ rel: 'modulepreload', href: new URL(name, import.meta.url).href });
}

function preloadResponse(href: string): void {
	preload({ rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href });
}

// In this order: where the bytes of all wait for each other, a person who has to sign in does not wait for the page behind that.
const session = fetch('api/v1/session', { credentials: 'same-origin' });
preloadModules(MODULES.languages[wantedLanguage()]);
const path = location.hash.replace(/^#?\/?/, '') || FIRST_PAGE;
const page = /^[^/?]*/.exec(path)?.[0] ?? '';
// An address may have any name, also that of a member of every object.
if (Object.hasOwn(MODULES.pages, page)) preloadModules(MODULES.pages[page]);
session.then(
	({ ok }) => {
		if (!ok) preloadResponse('api/v1/session/methods');
		else if (path === FIRST_PAGE) FIRST_REQUESTS.forEach(preloadResponse);
	},
	() => {
		// The frame shows the failure.
	},
);
const { start } = await import('./app/frame.tsx');
await start(session);
