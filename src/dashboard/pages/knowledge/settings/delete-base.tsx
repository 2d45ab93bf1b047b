import { api } from '../../../api/client.ts';
import { invalidate, queryClient } from '../../../api/queries.ts';
import { allAssistants } from '../../../api/workspace-lists.ts';
import { navigate } from '../../../app/route.ts';
import { showToast } from '../../../app/toasts.tsx';
import { Button } from '../../../components/button.tsx';
import { confirm } from '../../../components/confirm.tsx';
import { limitText } from '../../../components/options.ts';
import { useAction } from '../../../forms/use-action.ts';
import { count, fill, strings } from '../../../languages/index.ts';
import { assistantsWith, type KnowledgeBase } from '../queries.ts';
import { queueOf } from '../uploads/queues.ts';

/** Deletes a knowledge base, after it has said what is lost and which assistants lose it. */
export function DeleteBase({ base: { id, name, document_count } }: { base: KnowledgeBase }) {
	const t = strings().knowledgePages;
	const remove = useAction(async () => {
		const all = await queryClient.fetchQuery({ ...allAssistants(), staleTime: 0 });
		const assistants = assistantsWith(id, all).rows;
		const losses = [fill(t.deleteText, { documents: count(t.documentCount, document_count) })];
		if (assistants.length > 0) {
			const names = assistants.map((assistant) => assistant.name).join(', ');
			const { one, other } = t.deleteAssistants;
			losses.push(
				count({ one: one.replace('{names}', names), other: other.replace('{names}', names) }, assistants.length),
			);
		}
		const limit = limitText(all);
		if (limit !== null) losses.push(limit);
		const title = fill(t.deleteTitle, { name });
		if (!(await confirm({ title, text: losses.join(' '), action: t.delete }))) return;
		await api.DELETE('/api/v1/knowledge-bases/{id}', { params: { path: { id } } });
		queueOf(id).cancelAll();
		showToast(fill(t.deleted, { name }));
		navigate(['knowledge']);
		queryClient.removeQueries({ queryKey: ['knowledge', 'one', id] });
		void invalidate('knowledge', 'list');
		void invalidate('assistants');
	});
	return (
		<section class="card">
			<h2>{t.deleteBase}</h2>
			<p class="soft">{t.deleteHint}</p>
			<div class="actions">
				<Button icon="remove" look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
					{t.deleteBase}
				</Button>
			</div>
		</section>
	);
}
