import type { WidgetCitation } from '../../contract/index.ts';
import { safeUrl } from '../../markdown/index.ts';
import type { Strings } from '../languages/strings.ts';
import { Icon } from './icons.tsx';
import { Link, type RichTextProps, richText } from './rich-text.tsx';
import { type Child, h, type VirtualNode } from './virtual-dom.ts';

/** Up to this number each document has a chip. More documents share one chip. */
const MAX_CHIPS = 3;
/** Value of `open`: all documents of a message are open. */
const ALL_SOURCES = 'all';

export interface SourcesProps extends Pick<RichTextProps, 'rich' | 'strings' | 'copiedText' | 'onCopy'> {
	/** In the order in which the text cites them. */
	citations: readonly WidgetCitation[];
	/** What is open: the position of a passage in that order, from 1, the id of a document, or `ALL_SOURCES`. */
	open: string | undefined;
	/** Opens or closes a value of `open`. */
	onSource_(source: string): void;
}

/** A passage, and its position among the cited passages, from 1. */
interface Passage {
	citation: WidgetCitation;
	number: number;
}

/** The sources of an answer: a chip for each document, which opens the passages cited from it. */
export function Sources(props: SourcesProps): VirtualNode {
	const { citations, strings, open, onSource_ } = props;
	const documents = documentsOf(citations);
	const chip = (source: string, label: Child) => (
		<button type="button" class="chip" aria-expanded={open === source} onClick={() => onSource_(source)}>
			<Icon shape="document" /> {label}
		</button>
	);
	return (
		<div class="sources">
			<div class="chips" role="group" aria-label={strings.sources}>
				{documents.length > MAX_CHIPS
					? chip(ALL_SOURCES, `${strings.sources} (${documents.length})`)
					: documents.map((passages) => {
							const [{ citation }] = passages;
							return chip(citation.document_id, [
								<span dir="auto">{citation.title}</span>,
								' ',
								pagesOf(passages, strings),
							]);
						})}
			</div>
			{documents.map((passages) => {
				const isOpen = open === ALL_SOURCES || open === passages[0].citation.document_id;
				const shown = passages.filter(({ number }) => isOpen || open === String(number));
				return shown.length > 0 && renderDocument(shown, props);
			})}
		</div>
	);
}

/** Groups the passages by document. Documents and passages are in the order of their first citation. */
function documentsOf(citations: readonly WidgetCitation[]): Array<[Passage, ...Passage[]]> {
	const documents = new Map<string, [Passage, ...Passage[]]>();
	for (const [index, citation] of citations.entries()) {
		const passage = { citation, number: index + 1 };
		const passages = documents.get(citation.document_id);
		if (passages) passages.push(passage);
		else documents.set(citation.document_id, [passage]);
	}
	return [...documents.values()];
}

function pagesOf(passages: readonly Passage[], strings: Strings): Child {
	const pages = [...new Set(passages.flatMap(({ citation }) => citation.page ?? []))].sort((a, b) => a - b);
	if (pages.length === 0) return null;
	return <span class="pages">{strings[pages.length > 1 ? 'pages' : 'page'].replace('{n}', pages.join(', '))}</span>;
}

function renderDocument(passages: readonly Passage[], props: SourcesProps): VirtualNode {
	const { strings } = props;
	const { title, url } = (passages[0] as Passage).citation;
	const href = url && safeUrl(url);
	return (
		<div class="document">
			<p class="origin">
				<b dir="auto">{title}</b> {pagesOf(passages, strings)}
			</p>
			{passages.map(({ citation, number }) => (
				<div key={number} class="source" role="group" aria-label={strings.source.replace('{n}', String(number))}>
					<span class="number" aria-hidden="true">
						{number}
					</span>
					{/* Numbers in the passage are not citations. */}
					<blockquote dir="auto" tabindex="0">
						{richText({ ...props, open: undefined, content: citation.text, citedNumbers_: [], onSource_() {} })}
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
