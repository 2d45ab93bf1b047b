import type { Citation } from '../../contract/index.ts';
import { safeUrl } from '../text/safe-url.ts';
import { type Drawing, h } from './elements.ts';
import { Icon } from './icons.tsx';
import { Link, type RichTextProps, richText } from './rich-text.tsx';

/** All sources of a message are shown, instead of the one with a number. */
export const ALL = 0;

export interface SourcesProps extends Pick<RichTextProps, 'rich' | 'strings' | 'open' | 'copiedText' | 'onCopy'> {
	/** The text that mentions the sources. */
	content: string;
	citations: readonly Citation[];
	/** Opens or closes the source with a number. */
	onSource(number: number): void;
}

/** What an answer rests on: one line, which opens a list of documents with the passages that are quoted. */
export function Sources(props: SourcesProps): Drawing {
	const { content, citations, strings, open, onSource } = props;
	const documents = documentsOf(content, citations);
	const shown = documents
		.map((passages) => passages.filter(({ index }) => open === ALL || index === open))
		.filter(({ length }) => length > 0);
	return (
		<div class="sources">
			<button type="button" class="chip" aria-expanded={open !== undefined} onClick={() => onSource(open ?? ALL)}>
				<Icon shape="document" /> {strings.sources} ({documents.length})
			</button>
			{open !== undefined && shown.map((passages) => one(passages, props))}
		</div>
	);
}

/** The passages by their document, and the documents, in the order in which the text mentions them. */
export function documentsOf(content: string, citations: readonly Citation[]): Citation[][] {
	const place = ({ index }: Citation) => {
		const at = content.indexOf(`[${index}]`);
		return at < 0 ? content.length + index : at;
	};
	const documents = new Map<string, Citation[]>();
	for (const citation of [...citations].sort((a, b) => place(a) - place(b))) {
		const key = citation.document_id;
		documents.set(key, [...(documents.get(key) ?? []), citation]);
	}
	return [...documents.values()];
}

function one(passages: readonly Citation[], props: SourcesProps): Drawing {
	const { strings } = props;
	const [{ title, url }] = passages as [Citation];
	const pages = [...new Set(passages.flatMap(({ page }) => page ?? []))].sort((a, b) => a - b);
	const href = url && safeUrl(url);
	return (
		<div class="document">
			<p class="origin">
				<b dir="auto">{title}</b>{' '}
				{pages.length > 0 && (
					<span>{strings[pages.length > 1 ? 'pages' : 'page'].replace('{n}', pages.join(', '))}</span>
				)}
			</p>
			{passages.map(({ index, text }) => (
				<div key={index} class="source" role="group" aria-label={strings.source.replace('{n}', String(index))}>
					<span class="number" aria-hidden="true">
						{index}
					</span>
					{/* The words themselves, which refer to nothing here. */}
					<blockquote dir="auto" tabindex="0">
						{richText({ ...props, content: text, cited: [], onSource() {} })}
					</blockquote>
				</div>
			))}
			{href && (
				<Link href={href}>
					{strings.openSource} <Icon shape="open" />
				</Link>
			)}
		</div>
	);
}
