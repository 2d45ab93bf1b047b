import { Description, type OpenApi } from './description.ts';
import { element, fill } from './dom.ts';
import { markdown } from './markdown.ts';
import { eventView, operationView } from './operation-view.ts';

const WIDE_SCREEN = matchMedia('(min-width: 960px)');

/** The text that the search matches, and the elements that it hides. */
interface Entry {
	text: string;
	elements: HTMLElement[];
	section: HTMLElement;
}

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

async function renderPage(): Promise<void> {
	const response = await fetch('openapi.json');
	if (!response.ok) throw new Error(`status ${response.status}`);
	const description = new Description((await response.json()) as OpenApi);
	const { info } = description.document;
	const [errors, introduction] = partition(markdown(info.description), (block) => block.tagName === 'TABLE');
	byId('version').textContent = info.version;
	byId('introduction').append(element('p', {}, info.summary), ...introduction);

	const entries: Entry[] = [];
	const credential = () => byId<HTMLInputElement>('key').value.trim();
	const sections = description.groups().map(({ name, description: text, operations }) =>
		section(
			name,
			text,
			operations.map((each) => ({
				text: `${each.method} ${each.path} ${each.summary}`,
				name: each.summary,
				view: operationView(description, each, credential),
			})),
			entries,
		),
	);
	const events = Object.entries(description.document.webhooks).map(([type, { post }]) => ({
		text: `${type} ${post.summary}`,
		name: type,
		view: eventView(description, type, post),
	}));
	sections.push(section('Events for webhooks', 'Events that this server sends to webhook endpoints.', events, entries));
	const codes = element(
		'section',
		{ id: 'errors', 'aria-labelledby': 'errors-title' },
		element('h2', { id: 'errors-title' }, 'Error codes'),
		...errors,
	);
	byId('operations').append(...sections, codes);
	byId('list').append(element('p', {}, element('a', { href: '#errors' }, 'Error codes')));
	enableSearch(entries, [codes]);
	enableAnchors();
	byId('loading').remove();
}

/** A group of operations, in the page and in the navigation. */
function section(
	name: string,
	text: string,
	parts: Array<{ text: string; name: string; view: HTMLDetailsElement }>,
	entries: Entry[],
): HTMLElement {
	const id = `group-${name.toLowerCase().replaceAll(/\W+/g, '-')}`;
	const sectionElement = element(
		'section',
		{ 'aria-labelledby': id },
		element('h2', { id }, name),
		...markdown(text),
		...parts.map(({ view }) => view),
	);
	const items = parts.map((part) => {
		const item = element('li', {}, element('a', { href: `#${part.view.id}` }, part.name));
		entries.push({
			text: `${name} ${part.text} ${part.view.id}`.toLowerCase(),
			elements: [part.view, item],
			section: sectionElement,
		});
		return item;
	});
	byId('list').append(element('p', {}, element('a', { href: `#${id}` }, name)), element('ul', {}, ...items));
	return sectionElement;
}

/** Shows the operations that contain every word of the search. */
function enableSearch(entries: Entry[], others: HTMLElement[]): void {
	const search = byId<HTMLInputElement>('search');
	search.addEventListener('input', () => {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const found = entries.filter(({ text }) => words.every((word) => text.includes(word)));
		for (const { elements, section } of entries) for (const part of [...elements, section]) part.hidden = true;
		for (const { elements, section } of found) for (const part of [...elements, section]) part.hidden = false;
		for (const other of [...others, byId('introduction')]) other.hidden = words.length > 0;
		for (const list of byId('list').querySelectorAll('ul')) {
			const isEmpty = ![...list.children].some((item) => !(item as HTMLElement).hidden);
			list.hidden = isEmpty;
			(list.previousElementSibling as HTMLElement).hidden = isEmpty;
		}
		byId('found').textContent = words.length === 0 ? '' : `${found.length} of ${entries.length} operations`;
	});
	addEventListener('keydown', (event) => {
		const isTyping = (event.target as Element).closest('input, textarea, select');
		if (event.key !== '/' || isTyping) return;
		event.preventDefault();
		search.focus();
	});
}

/** Keeps the page's fragment and the open operation equal. */
function enableAnchors(): void {
	const openTarget = () => {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!(target instanceof HTMLDetailsElement)) return void target?.scrollIntoView();
		fill(target);
		target.open = true;
		target.scrollIntoView();
		target.querySelector('summary')?.focus({ preventScroll: true });
	};
	addEventListener('hashchange', openTarget);
	byId('list').addEventListener('click', (event) => {
		const link = (event.target as Element).closest('a');
		if (!link) return;
		if (!WIDE_SCREEN.matches) byId<HTMLDetailsElement>('menu').open = false;
		// A click on the current fragment does not fire `hashchange`.
		if (link.hash === location.hash) openTarget();
	});
	for (const operation of document.querySelectorAll<HTMLDetailsElement>('.operation')) {
		operation.addEventListener('toggle', () => {
			if (operation.open) history.replaceState(null, '', `#${operation.id}`);
		});
	}
	openTarget();
}

function partition<T>(items: T[], test: (item: T) => boolean): [yes: T[], no: T[]] {
	return [items.filter(test), items.filter((item) => !test(item))];
}

const openMenuWhereWide = () => {
	byId<HTMLDetailsElement>('menu').open = WIDE_SCREEN.matches;
};
WIDE_SCREEN.addEventListener('change', openMenuWhereWide);
openMenuWhereWide();
renderPage().catch((error: Error) => {
	byId('loading').textContent =
		`The description of the API cannot be loaded (${error.message}). Reload the page to try again.`;
});
