import assert from 'node:assert/strict';
import { createContext, Script } from 'node:vm';
import { type MarkdownNode, parseMarkdown, plainText } from '../../../src/markdown/index.ts';
import { markdownText } from '../markdown/text.ts';
import type { FuzzTarget } from '../target.ts';

/** Milliseconds of one text. They stop the parser itself, which never returns to the event loop. */
const PARSE_LIMIT_MS = 20_000;
/** The deepest element: six levels of blocks and six of styles, each with the elements of a table or an item. */
const MAX_NODE_DEPTH = 32;
const TAGS = new Set(
	[
		'p',
		'h3',
		'h4',
		'ul',
		'ol',
		'li',
		'pre',
		'blockquote',
		'table',
		'tr',
		'th',
		'td',
		'hr',
		'br',
		'strong',
		'em',
		'del',
		'code',
	].concat(['a', 'cite']),
);
const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** Texts of models, people and documents. Their nodes have no element, attribute and address outside of the allowed set. */
export const markdown: FuzzTarget<string> = {
	name: 'markdown',
	skip: false,
	shortRuns: 1_500,
	deadlineMs: 60_000,
	inputs: markdownText,
	fileOf: (input) => ({ bytes: Buffer.from(input), extension: 'md' }),
	async open() {
		const parse = stoppable(parseMarkdown, PARSE_LIMIT_MS);
		return {
			async run(text) {
				const nodes = parse(text);
				checkNodes(nodes, 0);
				assert.equal(typeof plainText(nodes), 'string');
				assert.deepEqual(parseMarkdown(text), nodes, 'the same text has the same nodes');
			},
			[Symbol.asyncDispose]: async () => {},
		};
	},
};

/** A function that throws when a call takes longer than the limit, also in a loop without end. */
function stoppable<A, R>(call: (argument: A) => R, timeout: number): (argument: A) => R {
	const holder: { run: () => void } = { run: () => {} };
	const script = new Script('holder.run()');
	const context = createContext({ holder });
	return (argument) => {
		let result: R | undefined;
		holder.run = () => {
			result = call(argument);
		};
		script.runInContext(context, { timeout });
		return result as R;
	};
}

function checkNodes(nodes: readonly MarkdownNode[], depth: number): void {
	assert.ok(depth <= MAX_NODE_DEPTH, 'the depth is bounded');
	for (const node of nodes) {
		if (typeof node === 'string') continue;
		assert.ok(TAGS.has(node.tag), `an element ${node.tag}`);
		const { tag, children, href, number, ...more } = node;
		assert.deepEqual(more, {}, 'no other attribute');
		assert.equal(href !== undefined, tag === 'a', 'a link, and nothing else, has an address');
		if (href !== undefined) {
			assert.ok(PROTOCOLS.includes(new URL(href).protocol), `an address ${href}`);
			assert.equal(new URL(href).href, href, 'an address is normalised');
		}
		assert.equal(
			number !== undefined,
			tag === 'ol' || tag === 'cite',
			'a list or a citation, and nothing else, has a number',
		);
		if (number !== undefined) assert.ok(Number.isSafeInteger(number), `a number ${number}`);
		checkNodes(children, depth + 1);
	}
}
