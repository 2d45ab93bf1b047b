import { useRef } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { api, resultOf } from '../api/client.ts';
import { navigate } from '../app/route.ts';
import { showToast } from '../app/toasts.tsx';
import { useAction } from '../forms/use-action.ts';
import { count, fill, strings } from '../languages/index.ts';
import { Button } from './button.tsx';
import { Markdown } from './markdown.tsx';
import { type Citation, openedCitation } from './opened-citation.ts';

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

/** Shows a passage in its document. Messages from before citations named their passage name the document alone. */
async function openPassage(citation: Citation): Promise<void> {
	const { document_id: doc_id, knowledge_base_id: id, chunk_id } = citation;
	if (id === null || chunk_id === null) return showToast(strings().passageUnknown, { isError: true });
	try {
		const path = '/api/v1/knowledge-bases/{id}/documents/{doc_id}';
		await resultOf(api.GET(path, { params: { path: { id, doc_id } } }));
	} catch (error) {
		if (!(error instanceof ApiError && error.status === 404)) throw error;
		return showToast(strings().passageGone, { isError: true });
	}
	openedCitation.value = citation;
	navigate(['knowledge', id, 'documents', doc_id], { chunk: chunk_id.slice(chunk_id.lastIndexOf('.') + 1) });
}
