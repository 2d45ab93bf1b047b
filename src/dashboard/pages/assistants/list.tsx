import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { useLiveQueries } from '../../api/live.ts';
import { invalidate } from '../../api/queries.ts';
import { changeQuery, linkTo, navigate, route } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/field.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { NameForm } from '../../forms/name-form.tsx';
import { strings } from '../../languages/index.ts';
import { type Assistant, useAssistants } from './queries.ts';

export function AssistantsList() {
	const s = strings();
	const t = s.assistantPages;
	const [isCreating, setCreating] = useState(false);
	const mayCreate = may('assistants:write');
	const isArchived = route.value.query.get('status') === 'archived';
	const list = useAssistants(isArchived ? 'archived' : 'active');
	useLiveQueries(['assistant.updated'], ['assistants', 'list']);
	return (
		<>
			<PageHeader title={s.assistants} purpose={t.purpose}>
				{mayCreate && (
					<Button look="primary" icon="plus" onClick={() => setCreating(true)}>
						{t.create}
					</Button>
				)}
			</PageHeader>
			{isCreating && <NameForm texts={t} onCreate={createAssistant} onCancel={() => setCreating(false)} />}
			<Checkbox
				label={t.showArchived}
				checked={isArchived}
				onChange={(checked) => changeQuery({ status: checked ? 'archived' : undefined })}
			/>
			<PagedContent list={list}>
				{(assistants) =>
					assistants.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							{mayCreate && !isCreating && <Button onClick={() => setCreating(true)}>{t.create}</Button>}
						</EmptyState>
					) : (
						<AssistantTable assistants={assistants} />
					)
				}
			</PagedContent>
		</>
	);
}

function AssistantTable({ assistants }: { assistants: readonly Assistant[] }) {
	const s = strings();
	const t = s.assistantPages;
	const pathOf = ({ id }: Assistant) => ['assistants', id];
	return (
		<Table
			label={s.assistants}
			rows={assistants}
			pathOf={pathOf}
			columns={[
				{ title: t.name, cell: (assistant) => <a href={linkTo(pathOf(assistant))}>{assistant.name}</a> },
				{ title: t.model, cell: ({ model }) => <code>{model}</code>, isMinor: true },
				{ title: s.knowledge, cell: ({ knowledge_base_ids }) => knowledge_base_ids.length, isNumber: true },
				{ title: t.tools, cell: ({ tool_ids }) => tool_ids.length, isNumber: true, isMinor: true },
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} /> },
			]}
		/>
	);
}

async function createAssistant(name: string): Promise<void> {
	const { id } = await resultOf(api.POST('/api/v1/assistants', { body: { name } }));
	void invalidate('assistants');
	navigate(['assistants', id]);
}
