/** Attributes of an element, `onName` listeners, and a key that distinguishes it from its siblings. */
export interface Props {
	readonly [name: string]: unknown;
}

/** The description of an element. */
export interface VirtualNode {
	readonly tag: string;
	readonly props: Props;
	readonly children: readonly Child[];
	/** The DOM node, once it is rendered. */
	dom?: Node;
}

/** Content of an element. Null and false render nothing. Strings become text nodes, never HTML. */
export type Child = VirtualNode | string | number | boolean | null | undefined | readonly Child[];

declare global {
	namespace JSX {
		type Element = VirtualNode;
		interface IntrinsicElements {
			[tag: string]: Props;
		}
		interface ElementChildrenAttribute {
			children: unknown;
		}
	}
}

/** The JSX factory. A component is a function that is called at once: it has no state and no lifecycle. */
export function h<P>(tag: string | ((props: P) => VirtualNode), props: P | null, ...children: Child[]): VirtualNode {
	if (typeof tag === 'function') return tag({ ...(props as P), children });
	return { tag, props: (props ?? {}) as Props, children };
}

/** The children of each rendered element, from the last rendering. */
const renderedChildren = new WeakMap<Node, VirtualNode[]>();
const TEXT_TAG = '';
const SVG_TAGS = ['svg', 'path'];

/**
 * Updates an element's children and reuses the existing DOM nodes, so focus, scroll position and typed text stay. A node object
 * that is identical to the previous one is skipped.
 */
export function render(parent: Node, children: readonly Child[]): void {
	const next = flatten(children);
	const previous = renderedChildren.get(parent) ?? [];
	const unmatched = new Set(previous);
	for (const drawing of next) {
		let match: VirtualNode | undefined = unmatched.has(drawing) ? drawing : undefined;
		if (!match) {
			for (const candidate of unmatched) {
				if (candidate.tag !== drawing.tag || candidate.props.key !== drawing.props.key) continue;
				// A candidate that appears unchanged later in the list keeps its DOM node.
				if (next.includes(candidate)) continue;
				match = candidate;
				break;
			}
		}
		if (match) unmatched.delete(match);
		if (match !== drawing) {
			drawing.dom = match?.dom ?? createDomNode(drawing.tag);
			if (drawing.tag === TEXT_TAG) {
				if (drawing.props.text !== match?.props.text) drawing.dom.nodeValue = drawing.props.text as string;
			} else {
				patchProps(drawing.dom as Element, match?.props ?? {}, drawing.props);
				render(drawing.dom, drawing.children);
			}
		}
	}
	// Which previous nodes are removed is known only after all matches are made.
	for (const [index, drawing] of next.entries()) {
		for (;;) {
			const existing = parent.childNodes[index] ?? null;
			if (existing === drawing.dom) break;
			// Removes an outdated node instead of moving others: a node that is moved loses its focus.
			const removed = [...unmatched].find(({ dom }) => dom === existing);
			if (removed) {
				unmatched.delete(removed);
				(existing as ChildNode).remove();
			} else parent.insertBefore(drawing.dom as Node, existing);
		}
	}
	for (const { dom } of unmatched) (dom as ChildNode).remove();
	renderedChildren.set(parent, next);
}

/** Joins adjacent texts and drops empty children. */
function flatten(children: readonly Child[]): VirtualNode[] {
	const found: VirtualNode[] = [];
	let text = '';
	const end = () => {
		if (text) found.push({ tag: TEXT_TAG, props: { text }, children: [] });
		text = '';
	};
	for (const child of (children as unknown[]).flat(9) as Child[]) {
		if (typeof child === 'string' || typeof child === 'number') text += child;
		else if (child && typeof child === 'object') {
			end();
			found.push(child as VirtualNode);
		}
	}
	end();
	return found;
}

function createDomNode(tag: string): Node {
	if (tag === TEXT_TAG) return document.createTextNode('');
	return SVG_TAGS.includes(tag)
		? document.createElementNS('http://www.w3.org/2000/svg', tag)
		: document.createElement(tag);
}

function patchProps(element: Element, before: Props, props: Props): void {
	for (const name of Object.keys({ ...before, ...props })) {
		const value = props[name];
		if (value === before[name] || name === 'key') continue;
		if (name.startsWith('on')) (element as unknown as Record<string, unknown>)[name.toLowerCase()] = value ?? null;
		else if (value == null || (value === false && !name.startsWith('aria-'))) element.removeAttribute(name);
		else element.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
	}
}
