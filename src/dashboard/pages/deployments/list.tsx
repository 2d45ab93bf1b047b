import { useState } from 'preact/hooks';
import { useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { changeQuery, linkTo, route } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/field.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { strings } from '../../languages/index.ts';
import { NewDeployment } from './new-deployment.tsx';
import { type Deployment, useDeployments } from './queries.ts';

export function DeploymentsList() {
	const s = strings();
	const t = s.deploymentPages;
	const [isCreating, setCreating] = useState(false);
	const mayCreate = may('deployments:write');
	const isArchived = route.value.query.get('status') === 'archived';
	const list = useDeployments(isArchived ? 'archived' : 'active');
	return (
		<>
			<PageHeader title={s.deployments} purpose={t.purpose}>
				{mayCreate && (
					<Button look="primary" icon="plus" onClick={() => setCreating(true)}>
						{t.create}
					</Button>
				)}
			</PageHeader>
			{isCreating && <NewDeployment onCancel={() => setCreating(false)} />}
			<Checkbox
				label={t.showArchived}
				checked={isArchived}
				onChange={(checked) => changeQuery({ status: checked ? 'archived' : undefined })}
			/>
			<PagedContent list={list}>
				{(deployments) =>
					deployments.length === 0 ? (
						<EmptyState
							title={isArchived ? t.noneArchived : t.none}
							text={isArchived ? t.noneArchivedText : t.noneText}
						>
							{mayCreate && !isCreating && !isArchived && <Button onClick={() => setCreating(true)}>{t.create}</Button>}
						</EmptyState>
					) : (
						<DeploymentTable deployments={deployments} />
					)
				}
			</PagedContent>
		</>
	);
}

function DeploymentTable({ deployments }: { deployments: readonly Deployment[] }) {
	const s = strings();
	const t = s.deploymentPages;
	const assistants = useQuery(allAssistants()).data?.rows;
	const pathOf = ({ id }: Deployment) => ['deployments', id];
	const assistantName = ({ assistant_id }: Deployment) => assistants?.find(({ id }) => id === assistant_id)?.name ?? '';
	return (
		<Table
			label={s.deployments}
			rows={deployments}
			pathOf={pathOf}
			columns={[
				{ title: t.name, cell: (deployment) => <a href={linkTo(pathOf(deployment))}>{deployment.name}</a> },
				{ title: t.assistant, cell: assistantName, isMinor: true },
				{ title: t.websites, cell: ({ allowed_domains }) => websitesOf(allowed_domains, t.noWebsiteYet) },
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} />, isMinor: true },
			]}
		/>
	);
}

/** The first entries of the allowlist, in one line. */
function websitesOf(domains: readonly string[], none: string) {
	if (domains.length === 0) return <span class="soft">{none}</span>;
	const more = domains.length > 2 ? ` +${domains.length - 2}` : '';
	return `${domains.slice(0, 2).join(', ')}${more}`;
}
