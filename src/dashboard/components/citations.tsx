import { useRef } from 'preact/hooks';
import { api, type Resource, resultOf } from '../api/client.ts';
import { navigate } from '../app/route.ts';
import { showToast } from '../app/toasts.tsx';
import { useAction } from '../forms/use-action.ts';
import { count, fill, strings } from '../languages/index.ts';
import { Button } from './button.tsx';
import { Markdown } from './markdown.tsx';

export type Citation = Resource<'Message'>['citations'][number];

/** A reply with its sources: a number in the text opens its source below, and from there the passage in its document. */
export function CitedText({ text, citations }: { text: string; citations: readonly Citation[] }) {
	const sources = useRef<HTMLDetailsElement>(null);
	const show = (number: number) => {
		if (sources.current) sources.current.open = true;
		const item = sources.current?.querySelector<HTMLElement>(`li[value="${number}"]`);
		item?.scrollIntoView({ block: 'nearest' });
		item?.focus();
	};
	return (
		<>
			<Markdown text={text} cited={citations.map(({ index }) => index)} onCite={show} />
			{citations.length > 0 && (
				<details ref={sources}>
					<summary>{count(strings().sources, citations.length)}</summary>
					<ol class="sources">
						{citations.map((citation) => (
							<Source key={citation.index} citation={citation} />
						))}
					</ol>
				</details>
			)}
		</>
	);
}

function Source({ citation }: { citation: Citation }) {
	const s = strings();
	const { index, title, page, text } = citation;
	const open = useAction(() => openPassage(citation));
	return (
		<li value={index} tabIndex={-1}>
			<b>{title}</b>
			{page !== null && `, ${fill(s.pageNumber, { n: page })}`}
			<blockquote>{text}</blockquote>
			<Button look="quiet" isBusy={open.isBusy} onClick={() => void open.run()}>
				{s.openPassage}
			</Button>
		</li>
	);
}

/** Pages of chunks that are searched for a passage. */
const MAX_PAGES = 20;

/** Shows a passage in its document. A citation names the document alone: its knowledge base and the chunk are looked up. */
async function openPassage({ document_id, text }: Citation): Promise<void> {
	const id = await knowledgeBaseOf(document_id);
	if (id === null) return showToast(strings().passageGone, { isError: true });
	navigate(['knowledge', id, 'documents', document_id], { chunk: await positionOf(id, document_id, text) });
}

/** Null where the document was removed. @throws ApiError, TypeError */
async function knowledgeBaseOf(doc_id: string): Promise<string | null> {
	const { data } = await resultOf(api.GET('/api/v1/knowledge-bases', { params: { query: { limit: 100 } } }));
	for (const { id } of data) {
		const path = '/api/v1/knowledge-bases/{id}/documents/{doc_id}';
		const found = await api.GET(path, { params: { path: { id, doc_id } } }).catch(() => null);
		if (found) return id;
	}
	return null;
}

/** The position of the passage in the document; undefined where the document has changed since. */
async function positionOf(id: string, doc_id: string, text: string): Promise<string | undefined> {
	let cursor: string | undefined;
	for (let page = 0; page < MAX_PAGES; page++) {
		const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
		const path = '/api/v1/knowledge-bases/{id}/documents/{doc_id}/chunks';
		const { data, next_cursor } = await resultOf(api.GET(path, { params: { path: { id, doc_id }, query } }));
		const chunk = data.find((each) => each.text === text || each.text.includes(text) || text.includes(each.text));
		if (chunk) return String(chunk.position);
		if (next_cursor === null) return undefined;
		cursor = next_cursor;
	}
	return undefined;
}
