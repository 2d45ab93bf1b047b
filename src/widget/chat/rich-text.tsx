import { type MarkdownNode, parseMarkdown } from '../../markdown/index.ts';
import type { Strings } from '../languages/strings.ts';
import { IconButton } from './icons.tsx';
import { type Child, h, type VirtualNode } from './virtual-dom.ts';

export interface RichTextProps {
	content: string;
	/** False: plain text. */
	rich: boolean;
	strings: Strings;
	/** Citation numbers in the text, in the order of their first mention. The visitor sees them renumbered in this order. */
	citedNumbers_: readonly number[];
	/** The open source. */
	open: string | undefined;
	/** Text that was copied recently. */
	copiedText: string | null;
	onSource_(source: string): void;
	onCopy(text: string): void;
}

/** Renders a message's text as elements and text nodes. No part of it is ever parsed as HTML. */
export function richText(props: RichTextProps): Child {
	if (!props.rich) {
		return (
			<p class="raw" dir="auto">
				{props.content}
			</p>
		);
	}
	return parseMarkdown(props.content).map((node) => renderNode(node, props));
}

function renderNode(node: MarkdownNode, props: RichTextProps): Child {
	if (typeof node === 'string') return node;
	const { tag, href, number } = node;
	const children = node.children.map((child) => renderNode(child, props));
	switch (tag) {
		case 'a':
			return <Link href={href as string}>{children}</Link>;
		case 'pre':
			return codeBlock(String(node.children[0]), props);
		case 'table':
			// A wide table scrolls inside its own element, which takes the focus for scrolling by keyboard.
			return (
				<div class="wide" tabindex="0">
					<table dir="auto">{children}</table>
				</div>
			);
		case 'cite':
			return citationButton(number as number, children, props);
		case 'ol':
			return (
				<ol dir="auto" start={number} class={`n${String((number as number) + children.length - 1).length}`}>
					{children}
				</ol>
			);
		case 'th':
			return <th scope="col">{children}</th>;
		default:
			// A list gets one direction as a whole, because its markers stand where its text begins.
			return h(tag, ['p', 'ul', 'h3', 'h4'].includes(tag) ? { dir: 'auto' } : {}, children);
	}
}

/** A link that opens a new tab, without referrer and opener. */
export function Link({ href, children }: { href: string; children?: Child }): VirtualNode {
	return (
		<a href={href} target="_blank" rel="noopener nofollow noreferrer">
			{children}
		</a>
	);
}

function citationButton(
	number: number,
	written: Child,
	{ citedNumbers_, open, onSource_, strings }: RichTextProps,
): Child {
	const at = citedNumbers_.indexOf(number);
	if (at < 0) return written;
	const shown = String(at + 1);
	return (
		<button
			type="button"
			class="reference"
			aria-label={strings.source.replace('{n}', shown)}
			aria-expanded={open === shown}
			onClick={() => onSource_(shown)}
		>
			{shown}
		</button>
	);
}

function codeBlock(text: string, { strings, onCopy, copiedText }: RichTextProps): VirtualNode {
	const done = copiedText === text;
	return (
		<div class="code" dir="ltr">
			<pre tabindex="0">
				<code>{text}</code>
			</pre>
			<IconButton
				small
				shape={done ? 'done' : 'copy'}
				label={done ? strings.copied : strings.copy}
				onClick={() => onCopy(text)}
			/>
		</div>
	);
}
