import { Parser } from 'htmlparser2';
import { resourceLimit } from './limits.ts';

/** Limits of the DOM of one page. A node takes about 400 bytes of memory, so all nodes take 240 MB. */
export interface HtmlLimits {
	/** Elements, pieces of text (a character reference is one), comments and attributes together. 1 MB of an ordinary page has 20,000 to 50,000. */
	nodes: number;
	/** Attributes of one tag. The time is quadratic in their number. */
	attributes: number;
	/** Depth of nested elements. Ordinary pages have 10 to 50, generated ones a few hundred. */
	depth: number;
	/** Steps along the stack of open elements: tags times depth. Ordinary pages need a few million. */
	steps: number;
}

export const HTML_LIMITS: HtmlLimits = { nodes: 600_000, attributes: 256, depth: 12_000, steps: 1_000_000_000 };

/** Input between two checks of the number of steps. */
const SLICE_CHARS = 64 * 1024;

/**
 * Counts the nodes of a page's DOM with the tokeniser of the DOM parser, without keeping them. Memory is constant. Time is
 * linear, up to the limit of steps.
 * @returns the number of nodes
 * @throws AppError `resource_limit`
 */
export function requireHtmlLimits(html: string, limits: HtmlLimits = HTML_LIMITS): number {
	const counter = new NodeCounter(limits);
	const parser = new Parser(counter, { lowerCaseAttributeNames: false, decodeEntities: true });
	let steps = 0;
	for (let at = 0; at < html.length; at += SLICE_CHARS) {
		const slice = html.slice(at, at + SLICE_CHARS);
		counter.deepest = counter.depth;
		parser.write(slice);
		// A closing tag is searched in the whole stack, also if it closes nothing.
		steps += (slice.split('<').length - 1) * counter.deepest;
		if (steps > limits.steps) throw resourceLimit(TOO_DEEP);
	}
	parser.end();
	return counter.nodes;
}

const TOO_DEEP = 'The page is nested too deeply to be read: too many elements stand within each other.';

class NodeCounter {
	depth = 0;
	deepest = 0;
	nodes = 0;
	readonly #limits: HtmlLimits;
	#attributes = 0;

	constructor(limits: HtmlLimits) {
		this.#limits = limits;
	}

	onopentagname(): void {
		this.#attributes = 0;
		this.#count();
		this.depth++;
		if (this.depth > this.deepest) this.deepest = this.depth;
		if (this.depth > this.#limits.depth) throw resourceLimit(TOO_DEEP);
	}

	onclosetag(): void {
		this.depth--;
	}

	onattribute(): void {
		this.#count();
		if (++this.#attributes <= this.#limits.attributes) return;
		throw resourceLimit(`One tag of the page has more than ${this.#limits.attributes} attributes.`);
	}

	ontext(): void {
		this.#count();
	}

	oncomment(): void {
		this.#count();
	}

	#count(): void {
		if (++this.nodes <= this.#limits.nodes) return;
		const maxNodes = this.#limits.nodes.toLocaleString('en');
		throw resourceLimit(
			`The page consists of more than ${maxNodes} elements, attributes and pieces of text. Split it.`,
		);
	}
}
