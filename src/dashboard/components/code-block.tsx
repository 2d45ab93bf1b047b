import { CopyButton } from './copy-button.tsx';

/** Code or JSON with a button that copies it. A long one scrolls. */
export function CodeBlock({
	label,
	text,
	isTall,
}: {
	/** What it is, for screen readers. */
	label: string;
	text: string;
	/** Most of the window's height instead of some lines. */
	isTall?: boolean;
}) {
	return (
		<section class={isTall ? 'code-block code-block-tall' : 'code-block'} aria-label={label}>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
			<pre tabIndex={0}>{text}</pre>
			<CopyButton text={text} />
		</section>
	);
}

/** A JSON value as people read it. */
export function jsonText(value: unknown): string {
	return JSON.stringify(value, null, 2);
}
