type Child = Node | string | null | undefined | false;

/** An element with attributes and children. Attributes that are false or undefined are omitted. */
export function element<K extends keyof HTMLElementTagNameMap>(
	name: K,
	attributes: Record<string, string | boolean | undefined> = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const created = document.createElement(name);
	for (const [attribute, value] of Object.entries(attributes)) {
		if (value !== false && value !== undefined) created.setAttribute(attribute, value === true ? '' : value);
	}
	created.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
	return created;
}

/** A disclosure whose content is made when it is first opened. */
export function disclosure(
	attributes: Record<string, string | boolean | undefined>,
	summary: Child[],
	content: () => Child[],
): HTMLDetailsElement {
	const details = element('details', attributes, element('summary', {}, ...summary));
	details.addEventListener('toggle', () => fill(details), { once: true });
	contents.set(details, content);
	return details;
}

const contents = new WeakMap<HTMLDetailsElement, () => Child[]>();

/** Makes the content of a disclosure, unless it exists. */
export function fill(details: HTMLDetailsElement): void {
	const content = contents.get(details);
	contents.delete(details);
	if (content) details.append(element('div', { class: 'inside' }, ...content()));
}

/** Program text as a block. */
export function codeBlock(text: string): HTMLPreElement {
	return element('pre', {}, element('code', {}, text));
}
