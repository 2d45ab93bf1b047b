import { api, BASE_URL } from '../../../api/client.ts';
import { invalidate, queryClient } from '../../../api/queries.ts';
import { navigate } from '../../../app/route.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { confirm } from '../../../components/confirm.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { count, fill, strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import { type Document, documentById } from '../queries.ts';
import { queueOf } from '../uploads/queues.ts';

/** Downloads, reads again, or removes the document. */
export function DocumentActions({ baseId, document }: { baseId: string; document: Document }) {
	const t = strings().knowledgePages;
	const { id, title, chunk_count, status } = document;
	const path = { id: baseId, doc_id: id };
	const retry = useAction(async () => {
		await api.POST('/api/v1/knowledge-bases/{id}/documents/{doc_id}/retry', { params: { path } });
		await invalidate('knowledge', 'document', baseId, id);
		showToast(fill(t.retried, { name: title }));
	});
	const remove = useAction(async () => {
		const text = fill(t.removeText, { name: title, passages: count(t.passageCount, chunk_count) });
		if (!(await confirm({ title: t.removeTitle, text, action: t.remove }))) return;
		await api.DELETE('/api/v1/knowledge-bases/{id}/documents/{doc_id}', { params: { path } });
		queueOf(baseId).forget(id);
		showToast(fill(t.removed, { name: title }));
		navigate(['knowledge', baseId]);
		queryClient.removeQueries({ queryKey: documentById(baseId, id).queryKey });
	});
	const content = `api/v1/knowledge-bases/${baseId}/documents/${id}/content`;
	return (
		<>
			{document.size_bytes !== null && <DownloadLink href={new URL(content, BASE_URL).href} label={t.download} />}
			{mayWrite() && (status === 'error' || document.error !== null) && (
				<Button icon="retry" isBusy={retry.isBusy} onClick={() => void retry.run()}>
					{t.retryDocument}
				</Button>
			)}
			{mayWrite() && (
				<Button icon="remove" look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
					{t.remove}
				</Button>
			)}
		</>
	);
}

/** The browser saves what the link leads to: the response says so. */
function DownloadLink({ href, label }: { href: string; label: string }) {
	return (
		<a class="button button-secondary" href={href} download="">
			<span>{label}</span>
		</a>
	);
}
