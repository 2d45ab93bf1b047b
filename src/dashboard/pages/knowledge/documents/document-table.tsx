import { api, resultOf } from '../../../api/client.ts';
import { linkTo, navigate } from '../../../app/route.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { RelativeTime } from '../../../components/time.tsx';
import { VirtualList } from '../../../components/virtual-list.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { fill, locale, strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import type { Document } from '../queries.ts';
import { DocumentStatus } from './document-status.tsx';
import { adviceOf } from './error-sentence.ts';

/** Of a row without an error (px). */
const ROW_HEIGHT = 57;

/** The documents as rows of a table, of which only those near the window are in the page. */
export function DocumentTable({
	baseId,
	documents,
	isWhole,
	onNearEnd,
}: {
	baseId: string;
	documents: readonly Document[];
	/** Whether these are all documents of the list. */
	isWhole: boolean;
	onNearEnd: () => void;
}) {
	const t = strings().knowledgePages;
	return (
		<div class="grid-table">
			<div class="grid-head" aria-hidden="true">
				<span>{t.document}</span>
				<span>{t.status}</span>
				<span class="number minor">{t.passages}</span>
				<span class="minor">{t.addedAt}</span>
			</div>
			<VirtualList
				label={t.documents}
				rows={documents}
				isWhole={isWhole}
				keyOf={({ id }) => id}
				estimatedHeight={ROW_HEIGHT}
				onNearEnd={onNearEnd}
			>
				{(document) => <DocumentRow baseId={baseId} document={document} />}
			</VirtualList>
		</div>
	);
}

function DocumentRow({ baseId, document }: { baseId: string; document: Document }) {
	const path = ['knowledge', baseId, 'documents', document.id];
	const open = (event: MouseEvent) => {
		const isControl = event.target instanceof Element && event.target.closest('a, button, summary');
		if (!isControl) navigate(path);
	};
	const t = strings().knowledgePages;
	const { title, file_name, url, error, status } = document;
	const place = file_name ?? url;
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the row's link is for keyboards
		// biome-ignore lint/a11y/noStaticElementInteractions: the row's link is for keyboards
		<div class="grid-row opens" onClick={open}>
			<div class="document-name">
				<a href={linkTo(path)}>{title}</a>
				{place !== null && place !== title && <span class="hint">{place}</span>}
				{error && status !== 'indexed' && (
					<span class={status === 'error' ? 'field-error' : 'hint'}>{adviceOf(error)}</span>
				)}
			</div>
			<div class="document-state">
				<DocumentStatus document={document} />
				{status === 'error' && mayWrite() && <RetryButton baseId={baseId} document={document} />}
			</div>
			<div class="number minor">
				{document.chunk_count.toLocaleString(locale.value)}
				<span class="visually-hidden"> {t.passages}</span>
			</div>
			<div class="minor">
				<span class="visually-hidden">{t.addedAt} </span>
				<RelativeTime at={document.created_at} />
			</div>
		</div>
	);
}

/** Reads a failed document again. */
function RetryButton({ baseId, document }: { baseId: string; document: Document }) {
	const t = strings().knowledgePages;
	const retry = useAction(async () => {
		const path = { id: baseId, doc_id: document.id };
		await resultOf(api.POST('/api/v1/knowledge-bases/{id}/documents/{doc_id}/retry', { params: { path } }));
		showToast(fill(t.retried, { name: document.title }));
	});
	return (
		<Button
			look="quiet"
			icon="retry"
			label={`${t.retryDocument}: ${document.title}`}
			isBusy={retry.isBusy}
			onClick={() => void retry.run()}
		>
			{t.retryDocument}
		</Button>
	);
}
