import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, language, strings } from '../../languages/index.ts';
import { BaseStatus } from './base-status.tsx';
import { mayWrite } from './may-write.ts';
import { type KnowledgeBase, knowledgeBaseList } from './queries.ts';
import { useLiveKnowledge } from './use-live-knowledge.ts';

/** The knowledge bases of the workspace. */
export function BaseList() {
	const s = strings();
	const t = s.knowledgePages;
	const [isCreating, setCreating] = useState(false);
	const query = useQuery(knowledgeBaseList());
	useLiveKnowledge(null);
	return (
		<>
			<PageHeader title={s.knowledge} purpose={t.purpose}>
				{mayWrite() && (
					<Button look="primary" icon="plus" onClick={() => setCreating(true)}>
						{t.create}
					</Button>
				)}
			</PageHeader>
			{isCreating && <NewBase onCancel={() => setCreating(false)} />}
			<QueryContent query={query}>
				{(bases) =>
					bases.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							{!isCreating && mayWrite() && <Button onClick={() => setCreating(true)}>{t.create}</Button>}
						</EmptyState>
					) : (
						<BaseTable bases={bases} />
					)
				}
			</QueryContent>
		</>
	);
}

function BaseTable({ bases }: { bases: readonly KnowledgeBase[] }) {
	const s = strings();
	const t = s.knowledgePages;
	const pathOf = ({ id }: KnowledgeBase) => ['knowledge', id];
	return (
		<Table
			label={s.knowledge}
			rows={bases}
			pathOf={pathOf}
			columns={[
				{ title: t.name, cell: (base) => <a href={linkTo(pathOf(base))}>{base.name}</a> },
				{ title: t.status, cell: (base) => <BaseStatus base={base} /> },
				{
					title: t.documents,
					cell: ({ document_count }) => document_count.toLocaleString(language.value),
					isNumber: true,
				},
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} />, isMinor: true },
			]}
		/>
	);
}

/** The form for the name of a new knowledge base. */
function NewBase({ onCancel }: { onCancel: () => void }) {
	const s = strings();
	const t = s.knowledgePages;
	const [name, setName] = useState('');
	const create = useAction(async () => {
		const { id } = await resultOf(api.POST('/api/v1/knowledge-bases', { body: { name: name.trim() } }));
		showToast(fill(t.created, { name: name.trim() }));
		void invalidate('knowledge', 'list');
		void invalidate('assistants', 'attachable');
		navigate(['knowledge', id]);
	}, ['/name']);
	return (
		<form
			class="card inline-form"
			onSubmit={(event) => {
				event.preventDefault();
				void create.run();
			}}
		>
			<TextField
				label={t.name}
				placeholder={t.namePlaceholder}
				maxLength={200}
				required
				value={name}
				error={create.rejected?.messageFor('/name')}
				onChange={setName}
			/>
			<div class="actions">
				<Button look="primary" type="submit" isBusy={create.isBusy} disabled={name.trim() === ''}>
					{s.create}
				</Button>
				<Button look="quiet" onClick={onCancel}>
					{s.cancel}
				</Button>
			</div>
		</form>
	);
}
