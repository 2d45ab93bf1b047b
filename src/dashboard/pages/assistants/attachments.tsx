import { useState } from 'preact/hooks';
import type { AllRows } from '../../api/all-rows.ts';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { allKnowledgeBases, allTools } from '../../api/workspace-lists.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { limitText } from '../../components/options.ts';
import { QueryContent } from '../../components/query-content.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import type { Assistant } from './queries.ts';

/** With more items than this, a field finds them by name. */
const MANY = 20;

interface Item {
	id: string;
	name: string;
}

interface AttachmentsProps {
	assistant: Assistant;
	onChanged: (assistant: Versioned<Assistant>) => void;
}

/** The knowledge bases and tools of an assistant. A change takes effect at once. */
export function Attachments({ assistant, onChanged }: AttachmentsProps) {
	const t = strings().assistantPages;
	const knowledgeBases = useQuery(allKnowledgeBases());
	const { id } = assistant;
	const toggleKnowledgeBase = (item: Item, isAttached: boolean) => {
		const path = '/api/v1/assistants/{id}/knowledge-bases';
		return versionedResultOf(
			isAttached
				? api.DELETE(`${path}/{kb_id}`, { params: { path: { id, kb_id: item.id } } })
				: api.POST(path, { params: { path: { id } }, body: { knowledge_base_id: item.id } }),
		);
	};
	return (
		<>
			<QueryContent query={knowledgeBases}>
				{(list) => (
					<Choices
						title={t.knowledgeBases}
						none={t.noKnowledgeBases}
						list={list}
						attachedIds={assistant.knowledge_base_ids}
						toggle={async (item, isAttached) => onChanged(await toggleKnowledgeBase(item, isAttached))}
					/>
				)}
			</QueryContent>
			{may('tools:read') && <ToolChoices assistant={assistant} onChanged={onChanged} />}
		</>
	);
}

function ToolChoices({ assistant, onChanged }: AttachmentsProps) {
	const t = strings().assistantPages;
	const tools = useQuery(allTools());
	const { id } = assistant;
	const toggleTool = (item: Item, isAttached: boolean) => {
		const path = '/api/v1/assistants/{id}/tools';
		return versionedResultOf(
			isAttached
				? api.DELETE(`${path}/{tool_id}`, { params: { path: { id, tool_id: item.id } } })
				: api.POST(path, { params: { path: { id } }, body: { tool_id: item.id } }),
		);
	};
	return (
		<QueryContent query={tools}>
			{(list) => (
				<Choices
					title={t.tools}
					none={t.noTools}
					list={list}
					attachedIds={assistant.tool_ids}
					toggle={async (item, isAttached) => onChanged(await toggleTool(item, isAttached))}
				/>
			)}
		</QueryContent>
	);
}

function Choices({
	title,
	none,
	list,
	attachedIds,
	toggle,
}: {
	title: string;
	none: string;
	list: AllRows<Item>;
	attachedIds: readonly string[];
	toggle: (item: Item, isAttached: boolean) => Promise<void>;
}) {
	const t = strings().assistantPages;
	const [wanted, setWanted] = useState('');
	// A choice stays in its place while the form is open.
	const [attachedAtFirst] = useState(new Set(attachedIds));
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
	const items = itemsOf(list, attachedIds).toSorted(
		(a, b) => Number(attachedAtFirst.has(b.id)) - Number(attachedAtFirst.has(a.id)),
	);
	const shown = items.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()));
	const limit = limitText(list);
	return (
		<fieldset class="card">
			<legend>{title}</legend>
			{items.length === 0 && <p class="soft">{none}</p>}
			{items.length > MANY && (
				<>
					<TextField type="search" label={t.findChoice} value={wanted} onChange={setWanted} />
					<p class="hint" role="status">
						{fill(t.attachedCount, { attached: attachedIds.length, shown: shown.length, all: items.length })}
					</p>
				</>
			)}
			<div class={items.length > MANY ? 'many-choices' : ''}>
				{shown.map((item) => {
					const isAttached = attachedIds.includes(item.id);
					return (
						<Checkbox
							key={item.id}
							label={item.name}
							checked={isAttached !== (changing === item.id)}
							disabled={change.isBusy || !may('assistants:write')}
							onChange={() => void change.run(item, isAttached)}
						/>
					);
				})}
			</div>
			{limit && <p class="hint">{limit}</p>}
		</fieldset>
	);
}

/** The listed items, and attached ones beyond the end of the list by their ids. */
function itemsOf({ rows }: AllRows<Item>, attachedIds: readonly string[]): readonly Item[] {
	const listed = new Set(rows.map(({ id }) => id));
	return [...rows, ...attachedIds.filter((id) => !listed.has(id)).map((id) => ({ id, name: id }))];
}
