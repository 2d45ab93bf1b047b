import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { linkTo, navigate } from '../../app/route.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { NameForm } from '../../forms/name-form.tsx';
import { locale, strings } from '../../languages/index.ts';
import { BaseStatus } from './base-status.tsx';
import { mayWrite } from './may-write.ts';
import { type KnowledgeBase, useKnowledgeBases } from './queries.ts';
import { useLiveKnowledge } from './use-live-knowledge.ts';

/** The knowledge bases of the workspace. */
export function BaseList() {
	const s = strings();
	const t = s.knowledgePages;
	const [isCreating, setCreating] = useState(false);
	const list = useKnowledgeBases();
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
			{isCreating && <NameForm texts={t} onCreate={createBase} onCancel={() => setCreating(false)} />}
			<PagedContent list={list}>
				{(bases) =>
					bases.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							{!isCreating && mayWrite() && <Button onClick={() => setCreating(true)}>{t.create}</Button>}
						</EmptyState>
					) : (
						<BaseTable bases={bases} />
					)
				}
			</PagedContent>
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
					cell: ({ document_count }) => document_count.toLocaleString(locale.value),
					isNumber: true,
				},
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} />, isMinor: true },
			]}
		/>
	);
}

async function createBase(name: string): Promise<void> {
	const { id } = await resultOf(api.POST('/api/v1/knowledge-bases', { body: { name } }));
	void invalidate('knowledge', 'list');
	navigate(['knowledge', id]);
}
