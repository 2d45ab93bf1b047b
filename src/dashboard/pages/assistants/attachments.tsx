import { useState } from 'preact/hooks';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { showToast } from '../../app/toasts.tsx';
import { Checkbox } from '../../components/field.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { type Assistant, attachable } from './queries.ts';

interface Item {
	id: string;
	name: string;
}

/** The knowledge bases and tools of an assistant. A change takes effect at once. */
export function Attachments({
	assistant,
	onChanged,
}: {
	assistant: Assistant;
	onChanged: (assistant: Versioned<Assistant>) => void;
}) {
	const t = strings().assistantPages;
	const query = useQuery(attachable());
	const { id } = assistant;
	const toggleKnowledgeBase = (item: Item, isAttached: boolean) => {
		const path = '/api/v1/assistants/{id}/knowledge-bases';
		return versionedResultOf(
			isAttached
				? api.DELETE(`${path}/{kb_id}`, { params: { path: { id, kb_id: item.id } } })
				: api.POST(path, { params: { path: { id } }, body: { knowledge_base_id: item.id } }),
		);
	};
	const toggleTool = (item: Item, isAttached: boolean) => {
		const path = '/api/v1/assistants/{id}/tools';
		return versionedResultOf(
			isAttached
				? api.DELETE(`${path}/{tool_id}`, { params: { path: { id, tool_id: item.id } } })
				: api.POST(path, { params: { path: { id } }, body: { tool_id: item.id } }),
		);
	};
	return (
		<QueryContent query={query}>
			{({ knowledgeBases, tools }) => (
				<>
					<Choices
						title={t.knowledgeBases}
						none={t.noKnowledgeBases}
						items={knowledgeBases}
						attachedIds={assistant.knowledge_base_ids}
						toggle={async (item, isAttached) => onChanged(await toggleKnowledgeBase(item, isAttached))}
					/>
					<Choices
						title={t.tools}
						none={t.noTools}
						items={tools}
						attachedIds={assistant.tool_ids}
						toggle={async (item, isAttached) => onChanged(await toggleTool(item, isAttached))}
					/>
				</>
			)}
		</QueryContent>
	);
}

function Choices({
	title,
	none,
	items,
	attachedIds,
	toggle,
}: {
	title: string;
	none: string;
	items: readonly Item[];
	attachedIds: readonly string[];
	toggle: (item: Item, isAttached: boolean) => Promise<void>;
}) {
	const t = strings().assistantPages;
	/** The item whose change is on its way: it is shown as it will be, and as it was if the server refuses. */
	const [changing, setChanging] = useState<string | null>(null);
	const change = useAction(async (item: Item, isAttached: boolean) => {
		setChanging(item.id);
		try {
			await toggle(item, isAttached);
		} finally {
			setChanging(null);
		}
		showToast(fill(isAttached ? t.detached : t.attached, { name: item.name }));
	});
	return (
		<fieldset class="card">
			<legend>{title}</legend>
			{items.length === 0 && <p class="soft">{none}</p>}
			{items.map((item) => {
				const isAttached = attachedIds.includes(item.id);
				return (
					<Checkbox
						key={item.id}
						label={item.name}
						checked={isAttached !== (changing === item.id)}
						disabled={change.isBusy}
						onChange={() => void change.run(item, isAttached)}
					/>
				);
			})}
		</fieldset>
	);
}
