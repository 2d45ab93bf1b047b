import { toSingleLine } from './blocks.ts';
import { type DomDocument, type DomElement, type DomNode, isElement } from './html-dom.ts';

const HEADING = /^H[1-6]$/;
const INLINE = new Set(['A', 'SPAN', 'B', 'I', 'EM', 'STRONG', 'SUP', 'SMALL', 'FONT']);

/**
 * Adds headings to a file of a book where chapters begin within it, as the table of contents names them. A place that has a heading
 * keeps it; a paragraph that is the name becomes the heading.
 * @param fileName the name of the file, which stands above it unless the file begins with a heading
 * @param places the names by the ids of elements
 */
export function nameChapters(
	page: DomDocument,
	fileName: string | undefined,
	places: ReadonlyMap<string, string> | undefined,
): void {
	if (places === undefined) return;
	const [firstName] = places.values();
	for (const element of page.querySelectorAll('[id], a[name]')) {
		const name = places.get(element.getAttribute('id') ?? element.getAttribute('name') ?? '');
		const block = name === undefined ? null : blockOf(element);
		if (name === undefined || block === null || hasHeading(block)) continue;
		// Chapters of a file without a name of its own stand beside each other.
		const heading = page.createElement(firstName === fileName ? 'h1' : 'h2');
		heading.append(name);
		if (toSingleLine(block.textContent ?? '') === name) block.replaceWith(heading);
		else if (name !== fileName) block.before(heading);
	}
}

/** The element that begins at a target: a link's target may be an empty anchor in a paragraph, or before it. */
function blockOf(target: DomElement): DomElement | null {
	let element: DomElement = target;
	while (INLINE.has(element.nodeName)) {
		const parent: DomNode | null = element.parentNode;
		if (parent === null || !isElement(parent)) return null;
		if (parent.nodeName === 'BODY') return element.nextElementSibling;
		element = parent;
	}
	const isEmpty = toSingleLine(element.textContent ?? '') === '';
	return isEmpty ? element.nextElementSibling : element;
}

/** Whether an element is in a heading, is one, or begins with one. */
function hasHeading(element: DomElement): boolean {
	for (let above: DomNode | null = element; above !== null; above = above.parentNode) {
		if (HEADING.test(above.nodeName)) return true;
	}
	const [first] = element.children;
	return (
		first !== undefined &&
		(HEADING.test(first.nodeName) || (first.children.length > 0 && HEADING.test(first.children[0]?.nodeName ?? '')))
	);
}
