import { computed, signal } from '@preact/signals';

/**
 * The page that is shown, from the fragment of the address: `#/assistants/asst_1?tab=tools`. Everything is in the fragment, so a
 * proxy may serve the dashboard below any path.
 */
export interface Route {
	/** For example `['assistants', 'asst_1']`; empty at the start. */
	path: readonly string[];
	query: URLSearchParams;
}

const fragment = signal(location.hash);

addEventListener('hashchange', () => {
	fragment.value = location.hash;
});

export const route = computed<Route>(() => parseRoute(fragment.value));

/** @param hash with or without its `#` */
export function parseRoute(hash: string): Route {
	const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
	return { path: path.split('/').filter(Boolean).map(decodePart), query: new URLSearchParams(query) };
}

function decodePart(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** The address of a page, for `href`. Undefined and empty members of the query are left out. */
export function linkTo(path: readonly string[], query: Record<string, string | undefined> = {}): string {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
	const text = search.toString();
	return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Shows a page. */
export function navigate(path: readonly string[], query?: Record<string, string | undefined>): void {
	location.hash = linkTo(path, query);
}

/** Changes the query of the present page, without an entry in the history. */
export function changeQuery(change: Record<string, string | undefined>): void {
	const { path, query } = route.value;
	const hash = linkTo(path, { ...Object.fromEntries(query), ...change });
	history.replaceState(null, '', hash);
	fragment.value = hash;
}
