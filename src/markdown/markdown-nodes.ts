/** Elements that a message may have. All other markup stays text. */
export type Tag =
	| 'p'
	| 'h3'
	| 'h4'
	| 'ul'
	| 'ol'
	| 'li'
	| 'pre'
	| 'blockquote'
	| 'table'
	| 'tr'
	| 'th'
	| 'td'
	| 'hr'
	| 'br'
	| 'strong'
	| 'em'
	| 'del'
	| 'code'
	| 'a'
	/** A reference to a source, by its number. */
	| 'cite';

/** Text, or an element with its children. */
export type MarkdownNode = string | MarkdownElement;
export interface MarkdownElement {
	tag: Tag;
	children: MarkdownNode[];
	/** For `a`: a safe URL. */
	href?: string;
	/** For `ol`: its first number. For `cite`: its number. */
	number?: number;
}

/** Nesting of quotes, lists and styles. Deeper markup is text. */
export const MAX_DEPTH = 6;

export const element = (tag: Tag, children: MarkdownNode[], more?: Partial<MarkdownElement>): MarkdownElement => ({
	tag,
	children,
	...more,
});

/** The text of nodes for screen readers and transcripts. */
export function plainText(nodes: readonly MarkdownNode[]): string {
	return nodes
		.map((node) => {
			if (typeof node === 'string') return node;
			if (node.tag === 'cite') return '';
			const end = ['strong', 'em', 'del', 'code', 'a'].includes(node.tag) ? '' : '\n';
			return plainText(node.children) + end;
		})
		.join('');
}
