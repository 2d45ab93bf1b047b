import type { ComponentChildren, VNode } from 'preact';
import { type MarkdownNode, parseMarkdown } from '../../markdown/index.ts';
import { fill, strings } from '../languages/index.ts';

/**
 * The Markdown of a reply as elements and text nodes. No part of it is ever parsed as HTML.
 * @param onCite shows a source by its number in the text; without it, numbers are text
 * @param cited the numbers that sources have: other numbers in brackets are text
 */
export function Markdown({
	text,
	cited = [],
	onCite,
}: {
	text: string;
	cited?: readonly number[];
	onCite?: (number: number) => void;
}) {
	const citation = (number: number, written: ComponentChildren): ComponentChildren => {
		if (!onCite || !cited.includes(number)) return written;
		return (
			<button
				type="button"
				class="reference"
				aria-label={fill(strings().sourceNumber, { n: number })}
				onClick={() => onCite(number)}
			>
				{number}
			</button>
		);
	};
	return <div class="markdown">{parseMarkdown(text).map((node) => view(node, citation))}</div>;
}

type CitationView = (number: number, written: ComponentChildren) => ComponentChildren;

function view(node: MarkdownNode, citation: CitationView): ComponentChildren {
	if (typeof node === 'string') return node;
	const children = node.children.map((child) => view(child, citation));
	switch (node.tag) {
		case 'cite':
			return citation(node.number as number, children);
		case 'a':
			return (
				<a href={node.href} target="_blank" rel="noopener nofollow noreferrer">
					{children}
				</a>
			);
		case 'pre':
			return (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
				<pre tabIndex={0}>{children}</pre>
			);
		case 'table':
			return (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
				<div class="table-frame" tabIndex={0}>
					<table>
						<tbody>{children}</tbody>
					</table>
				</div>
			);
		case 'ol':
			return <ol start={node.number}>{children}</ol>;
		case 'th':
			return <th scope="col">{children}</th>;
		default:
			return elementOf(node.tag, children);
	}
}

/** Titles of a reply are below those of the page. */
function elementOf(Tag: Exclude<MarkdownTag, 'cite'>, children: ComponentChildren): VNode {
	return <Tag>{children}</Tag>;
}

type MarkdownTag = Exclude<MarkdownNode, string>['tag'];
