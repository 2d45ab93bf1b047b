/** What an element is to have: attributes, `onName` listeners, and a key that tells it apart from its likes. */
export interface Props {
	readonly [name: string]: unknown;
}

/** An element as it is to be. */
export interface Drawing {
	readonly tag: string;
	readonly props: Props;
	readonly children: readonly Child[];
	/** The element itself, once it is there. */
	dom?: Node;
}

/** What may stand in an element; what is not there is null or false. Text is text, whatever it looks like. */
export type Child = Drawing | string | number | boolean | null | undefined | readonly Child[];

declare global {
	namespace JSX {
		type Element = Drawing;
		interface IntrinsicElements {
			[tag: string]: Props;
		}
		interface ElementChildrenAttribute {
			children: unknown;
		}
	}
}

/** What JSX becomes. A function is called at once: it has no life of its own. */
export function h<P>(tag: string | ((props: P) => Drawing), props: P | null, ...children: Child[]): Drawing {
	if (typeof tag === 'function') return tag({ ...(props as P), children });
	return { tag, props: (props ?? {}) as Props, children };
}

/** The children of an element of ours as they were drawn last. */
const drawn = new WeakMap<Node, Drawing[]>();
const TEXT = '';
const DRAWINGS = ['svg', 'path'];

/**
 * Makes an element's children what they are to be, with the elements that are there already: so focus, scrolling and what
 * is typed stay. The very same drawing as before is not looked into.
 */
export function draw(parent: Node, children: readonly Child[]): void {
	const next = flatten(children);
	const before = drawn.get(parent) ?? [];
	const left = new Set(before);
	for (const drawing of next) {
		let old: Drawing | undefined = left.has(drawing) ? drawing : undefined;
		if (!old) {
			for (const candidate of left) {
				if (candidate.tag !== drawing.tag || candidate.props.key !== drawing.props.key) continue;
				// One that comes later unchanged keeps its own.
				if (next.includes(candidate)) continue;
				old = candidate;
				break;
			}
		}
		if (old) left.delete(old);
		if (old !== drawing) {
			drawing.dom = old?.dom ?? create(drawing.tag);
			if (drawing.tag === TEXT) {
				if (drawing.props.text !== old?.props.text) drawing.dom.nodeValue = drawing.props.text as string;
			} else {
				change(drawing.dom as Element, old?.props ?? {}, drawing.props);
				draw(drawing.dom, drawing.children);
			}
		}
	}
	// Only now it is known which of those before are on their way out.
	for (const [index, drawing] of next.entries()) {
		for (;;) {
			const there = parent.childNodes[index] ?? null;
			if (there === drawing.dom) break;
			// What is in the way is on its way out, as a rule: then nothing else need move, and lose its focus.
			const gone = [...left].find(({ dom }) => dom === there);
			if (gone) {
				left.delete(gone);
				(there as ChildNode).remove();
			} else parent.insertBefore(drawing.dom as Node, there);
		}
	}
	for (const { dom } of left) (dom as ChildNode).remove();
	drawn.set(parent, next);
}

/** The texts side by side are one, and nothing is where nothing is to be. */
function flatten(children: readonly Child[]): Drawing[] {
	const found: Drawing[] = [];
	let text = '';
	const end = () => {
		if (text) found.push({ tag: TEXT, props: { text }, children: [] });
		text = '';
	};
	for (const child of (children as unknown[]).flat(9) as Child[]) {
		if (typeof child === 'string' || typeof child === 'number') text += child;
		else if (child && typeof child === 'object') {
			end();
			found.push(child as Drawing);
		}
	}
	end();
	return found;
}

function create(tag: string): Node {
	if (tag === TEXT) return document.createTextNode('');
	return DRAWINGS.includes(tag)
		? document.createElementNS('http://www.w3.org/2000/svg', tag)
		: document.createElement(tag);
}

function change(element: Element, before: Props, props: Props): void {
	for (const name of Object.keys({ ...before, ...props })) {
		const value = props[name];
		if (value === before[name] || name === 'key') continue;
		if (name.startsWith('on')) (element as unknown as Record<string, unknown>)[name.toLowerCase()] = value ?? null;
		else if (value == null || (value === false && !name.startsWith('aria-'))) element.removeAttribute(name);
		else element.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
	}
}
