import { parseHTML } from 'linkedom';
import { HTML_LIMITS, requireHtmlLimits } from './html-limits.ts';

/** The part of the DOM that is used here; the project compiles without the browser's types. */
export interface DomNode {
	readonly nodeType: number;
	readonly nodeName: string;
	readonly textContent: string | null;
	readonly childNodes: Iterable<DomNode>;
	readonly parentNode: DomNode | null;
	remove(): void;
}

/** An element of the DOM. */
export interface DomElement extends DomNode {
	readonly children: ArrayLike<DomElement> & Iterable<DomElement>;
	getAttribute(name: string): string | null;
	hasAttribute(name: string): boolean;
	querySelector(selector: string): DomElement | null;
	querySelectorAll(selector: string): ArrayLike<DomElement> & Iterable<DomElement>;
	readonly previousElementSibling: DomElement | null;
	readonly nextElementSibling: DomElement | null;
	setAttribute(name: string, value: string): void;
	removeAttribute(name: string): void;
	append(...nodes: Array<DomNode | string>): void;
	prepend(...nodes: Array<DomNode | string>): void;
	before(...nodes: Array<DomNode | string>): void;
	replaceWith(node: DomNode): void;
}

/** A parsed page. */
export interface DomDocument extends DomElement {
	readonly documentElement: DomElement;
	readonly head: DomElement;
	readonly body: DomElement;
	createElement(name: string): DomElement;
}

/** The nodes that several pages of one document may have together. */
export interface NodeBudget {
	nodes: number;
}

const HEAD_ELEMENTS = new Set(['TITLE', 'META', 'LINK', 'SCRIPT', 'STYLE', 'BASE', 'NOSCRIPT', 'TEMPLATE']);

/**
 * Parses a page, and adds the elements html, head and body if their tags are left out, as HTML allows: the content must be in
 * the body. What stands before or after the page belongs to its body too (HTML Living Standard, 13.2.6.4.22), as in a mail
 * whose texts are pages one after the other.
 * @param budget the nodes that are left to it and to the pages after it
 * @throws AppError `resource_limit` before any node is made, if there would be too many
 */
export function parsePage(html: string, budget: NodeBudget = { nodes: HTML_LIMITS.nodes }): DomDocument {
	const nodes = Math.min(budget.nodes, HTML_LIMITS.nodes);
	budget.nodes -= requireHtmlLimits(html, { ...HTML_LIMITS, nodes });
	const asWritten = /<html[\s>]/i.test(html) ? documentOf(html) : null;
	const document =
		asWritten?.documentElement?.nodeName === 'HTML'
			? asWritten
			: documentOf(`<!doctype html><html><body>${html}</body></html>`);
	const { documentElement, head, body } = document;
	const roots = [...document.childNodes];
	for (const node of roots.slice(roots.indexOf(documentElement) + 1)) {
		if (isElement(node) || isText(node)) body.append(node);
	}
	let stray = false;
	for (const node of [...head.childNodes]) {
		if (isElement(node) && !HEAD_ELEMENTS.has(node.nodeName)) stray = true;
		if (stray) body.append(node);
	}
	for (const node of [...document.documentElement.childNodes]) {
		if (node !== head && node !== body) body.append(node);
	}
	return document;
}

function documentOf(html: string): DomDocument {
	return parseHTML(html).document as DomDocument;
}

/** Whether a node is an element. */
export function isElement(node: DomNode): node is DomElement {
	return node.nodeType === 1;
}

/** Whether a node is text. */
export function isText(node: DomNode): boolean {
	return node.nodeType === 3;
}
