import { api, resultOf } from '../../../api/client.ts';
import { invalidate, queryClient } from '../../../api/queries.ts';
import { navigate } from '../../../app/route.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { confirm } from '../../../components/confirm.tsx';
import { useAction } from '../../../forms/use-action.ts';
import { count, fill, strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import { type Source, sourceById } from './queries.ts';

type Verb = 'refresh' | 'pause' | 'resume';

/** Begins a run, pauses, resumes, or ends the following. */
export function SourceActions({ baseId, source: { id, status, url, progress } }: { baseId: string; source: Source }) {
	const t = strings().knowledgePages;
	const params = { path: { id: baseId, source_id: id } };
	const change = useAction(async (verb: Verb) => {
		const path = '/api/v1/knowledge-bases/{id}/sources/{source_id}';
		const call =
			verb === 'refresh'
				? api.POST(`${path}/refresh`, { params })
				: verb === 'pause'
					? api.POST(`${path}/pause`, { params })
					: api.POST(`${path}/resume`, { params });
		queryClient.setQueryData(sourceById(baseId, id).queryKey, await resultOf(call));
		void invalidate('knowledge', 'sources', baseId);
		showToast({ refresh: t.sourceRefreshed, pause: t.sourcePausedNow, resume: t.sourceResumed }[verb]);
	});
	const remove = useAction(async () => {
		const title = fill(t.deleteSourceTitle, { name: url });
		const text = fill(t.deleteSourceText, { documents: count(t.documentCount, progress.indexed) });
		if (!(await confirm({ title, text, action: t.deleteSource }))) return;
		await api.DELETE('/api/v1/knowledge-bases/{id}/sources/{source_id}', { params });
		showToast(fill(t.sourceDeleted, { name: url }));
		navigate(['knowledge', baseId], { tab: 'websites' });
		void invalidate('knowledge', 'sources', baseId);
	});
	if (status === 'deleting' || !mayWrite()) return null;
	return (
		<>
			{status !== 'running' && (
				<Button icon="retry" isBusy={change.isBusy} onClick={() => void change.run('refresh')}>
					{t.refreshNow}
				</Button>
			)}
			{status === 'paused' ? (
				<Button icon="play" isBusy={change.isBusy} onClick={() => void change.run('resume')}>
					{t.resume}
				</Button>
			) : (
				<Button icon="pause" isBusy={change.isBusy} onClick={() => void change.run('pause')}>
					{t.pause}
				</Button>
			)}
			<Button icon="remove" look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{t.deleteSource}
			</Button>
		</>
	);
}
