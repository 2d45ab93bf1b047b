import { type DomElement, type DomNode, isElement } from './html-dom.ts';

/** Elements whose text is not visible on a page. */
const INVISIBLE_ELEMENTS = new Set(
	`HEAD TITLE SCRIPT STYLE NOSCRIPT TEMPLATE IFRAME OBJECT EMBED SVG CANVAS AUDIO VIDEO MAP SELECT OPTION BUTTON INPUT
	TEXTAREA DATALIST PROGRESS METER DIALOG`.split(/\s+/),
);

/** Elements around the content of a page. */
const BOILERPLATE_ELEMENTS = new Set(['NAV', 'FOOTER', 'ASIDE']);
const BOILERPLATE_ROLES = new Set([
	'navigation',
	'banner',
	'contentinfo',
	'complementary',
	'search',
	'dialog',
	'alert',
	'menu',
]);

/** Whether an element is not shown, by its name or its attributes. */
export function isInvisible(element: DomElement): boolean {
	return INVISIBLE_ELEMENTS.has(element.nodeName.toUpperCase()) || isHidden(element);
}

/** Whether an element is hidden by its attributes. */
export function isHidden(element: DomElement): boolean {
	if (element.hasAttribute('hidden') || element.getAttribute('aria-hidden') === 'true') return true;
	return /display\s*:\s*none|visibility\s*:\s*hidden/i.test(element.getAttribute('style') ?? '');
}

/** Whether an element is hidden so that it takes no space: in a row of a table, the next cell takes its column. */
export function isWithoutSpace(element: DomElement): boolean {
	return element.hasAttribute('hidden') || /display\s*:\s*none/i.test(element.getAttribute('style') ?? '');
}

/** Whether an element surrounds the content of a page. */
export function isBoilerplate(element: DomElement): boolean {
	if (BOILERPLATE_ELEMENTS.has(element.nodeName)) return true;
	if (BOILERPLATE_ROLES.has(element.getAttribute('role')?.toLowerCase() ?? '')) return true;
	// The header of a page surrounds its content; the header of an article has its title.
	return element.nodeName === 'HEADER' && element.parentNode?.nodeName === 'BODY';
}

/** The share of an element's text that is the text of links. */
export function linkShareOf(element: DomElement): number {
	const total = lengthOf(element);
	if (total === 0) return 0;
	let links = 0;
	const stack: DomNode[] = [element];
	for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
		if (!isElement(node)) continue;
		if (node.nodeName === 'A') links += lengthOf(node);
		else for (const child of node.childNodes) stack.push(child);
	}
	return links / total;
}

function lengthOf(element: DomElement): number {
	return (element.textContent ?? '').replace(/\s+/g, '').length;
}
