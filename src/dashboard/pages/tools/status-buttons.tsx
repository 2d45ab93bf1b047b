import { api, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient, useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { limitText } from '../../components/options.ts';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { keepTool, type Tool, toolById } from './queries.ts';

/** Disables, enables and deletes a tool. The questions name the assistants that lose it. */
export function StatusButtons({ tool: { id, name, status } }: { tool: Tool }) {
	const t = strings().toolPages;
	// Loaded before a question is asked.
	useQuery(allAssistants());
	const lost = async () => {
		const assistants = await queryClient.fetchQuery(allAssistants());
		const names = assistants.rows.filter(({ tool_ids }) => tool_ids.includes(id)).map((assistant) => assistant.name);
		const limit = limitText(assistants);
		const losses =
			names.length === 0 ? (limit === null ? t.losesNone : '') : fill(t.loses, { names: names.join(', ') });
		return limit === null ? losses : `${losses} ${limit}`.trim();
	};
	const change = useAction(async (next: Tool['status']) => {
		if (next === 'archived') {
			const text = fill(t.disableText, { lost: await lost() });
			if (!(await confirm({ title: t.disableTitle, text, action: t.disable }))) return;
		}
		const call = api.PATCH('/api/v1/tools/{id}', { params: { path: { id } }, body: { status: next } });
		keepTool(await versionedResultOf(call));
		showToast(next === 'archived' ? t.disabledNow : t.enabledNow);
	});
	const remove = useAction(async () => {
		const text = fill(t.removeText, { lost: await lost() });
		if (!(await confirm({ title: fill(t.removeTitle, { name }), text, action: t.remove }))) return;
		await api.DELETE('/api/v1/tools/{id}', { params: { path: { id } } });
		showToast(fill(t.removed, { name }));
		navigate(['tools']);
		queryClient.removeQueries({ queryKey: toolById(id).queryKey });
		void invalidate('tools', 'list');
		void invalidate('assistants');
	});
	return (
		<>
			<Button isBusy={change.isBusy} onClick={() => void change.run(status === 'active' ? 'archived' : 'active')}>
				{status === 'active' ? t.disable : t.enable}
			</Button>
			<Button look="danger" isBusy={remove.isBusy} onClick={() => void remove.run()}>
				{t.remove}
			</Button>
		</>
	);
}
