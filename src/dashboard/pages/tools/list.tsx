import { useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { ButtonLink } from '../../components/button.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Status } from '../../components/status.tsx';
import { Table } from '../../components/table.tsx';
import { strings } from '../../languages/index.ts';
import { type Tool, useTools } from './queries.ts';

const NEW = linkTo(['tools', 'new']);

export function ToolsList() {
	const s = strings();
	const t = s.toolPages;
	const list = useTools();
	return (
		<>
			<PageHeader title={s.tools} purpose={t.purpose}>
				{may('tools:write') && (
					<ButtonLink look="primary" icon="plus" href={NEW}>
						{t.create}
					</ButtonLink>
				)}
			</PageHeader>
			<PagedContent list={list}>
				{(tools) =>
					tools.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							{may('tools:write') && <ButtonLink href={NEW}>{t.create}</ButtonLink>}
						</EmptyState>
					) : (
						<ToolTable tools={tools} />
					)
				}
			</PagedContent>
		</>
	);
}

function ToolTable({ tools }: { tools: readonly Tool[] }) {
	const s = strings();
	const t = s.toolPages;
	const { rows: assistants, isComplete } = useQuery(allAssistants()).data ?? { rows: [], isComplete: true };
	const pathOf = ({ id }: Tool) => ['tools', id];
	const namesOf = (tool: Tool) =>
		assistants.filter(({ tool_ids }) => tool_ids.includes(tool.id)).map(({ name }) => name);
	return (
		<Table
			label={s.tools}
			rows={tools}
			pathOf={pathOf}
			columns={[
				{
					title: t.name,
					cell: (tool) => (
						<>
							<a href={linkTo(pathOf(tool))}>{tool.name}</a>
							{tool.description && <p class="hint line-clamp">{tool.description}</p>}
						</>
					),
				},
				{ title: t.type, cell: ({ type }) => t[type], isMinor: true },
				{ title: t.status, cell: (tool) => <ToolStatus tool={tool} /> },
				{
					title: t.assistants,
					cell: (tool) => namesOf(tool).join(', ') || (isComplete ? t.noAssistants : '…'),
					isMinor: true,
				},
			]}
		/>
	);
}

export function ToolStatus({ tool: { status } }: { tool: Tool }) {
	const t = strings().toolPages;
	return status === 'active' ? <Status tone="green">{t.active}</Status> : <Status tone="grey">{t.disabled}</Status>;
}
