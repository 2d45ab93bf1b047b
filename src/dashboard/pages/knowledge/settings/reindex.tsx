import { api, resultOf } from '../../../api/client.ts';
import { queryClient, useQuery } from '../../../api/queries.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { fill, strings } from '../../../languages/index.ts';
import { type IndexingStatus, indexingStatus } from '../queries.ts';

/** Starts a reindex, shows how far it is, and stops it. */
export function Reindex({ baseId, documentCount }: { baseId: string; documentCount: number }) {
	const t = strings().knowledgePages;
	const { data: status } = useQuery(indexingStatus(baseId));
	const params = { path: { id: baseId } };
	const keep = (next: IndexingStatus) => queryClient.setQueryData(indexingStatus(baseId).queryKey, next);
	const start = useAction(async () => {
		keep(await resultOf(api.POST('/api/v1/knowledge-bases/{id}/reindex', { params })));
		showToast(t.reindexStarted);
	});
	const stop = useAction(async () => {
		keep(await resultOf(api.POST('/api/v1/knowledge-bases/{id}/reindex/stop', { params })));
		showToast(t.reindexStopped);
	});
	const reindex = status?.reindex ?? null;
	return (
		<section class="card">
			<h2>{t.reindex}</h2>
			<p class="soft">{t.reindexHint}</p>
			{reindex === null ? (
				<div class="actions">
					<Button icon="retry" isBusy={start.isBusy} disabled={documentCount === 0} onClick={() => void start.run()}>
						{t.reindexStart}
					</Button>
				</div>
			) : (
				<div class="progress-line">
					<progress max={Math.max(1, reindex.documents_total)} value={reindex.documents_done} aria-label={t.reindex} />
					<span role="status">
						{fill(t.reindexProgress, { done: reindex.documents_done, total: reindex.documents_total })}
					</span>
					<Button icon="stop" isBusy={stop.isBusy} onClick={() => void stop.run()}>
						{t.reindexStop}
					</Button>
				</div>
			)}
		</section>
	);
}
