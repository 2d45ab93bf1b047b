import { useEffect } from 'preact/hooks';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useCurrency } from '../../api/prices.ts';
import { useQuery } from '../../api/queries.ts';
import { changeQuery, linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { confirm } from '../../components/confirm.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { currentTab, Tabs } from '../../components/tabs.tsx';
import { ArchiveButton } from '../../forms/archive-button.tsx';
import { budgetText } from '../../forms/budget-field.tsx';
import { plainText } from '../../forms/conflict.tsx';
import { confirmRetention } from '../../forms/retention-field.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { AppearanceFields } from './appearance-fields.tsx';
import { type DeploymentFields, fieldsOf, filled, labelOf, patchOf, pointersOf, TABS, tabOf } from './fields.ts';
import { OriginCheck } from './origin-check.tsx';
import { Preview } from './preview.tsx';
import { type Deployment, deploymentById, showDeployment } from './queries.ts';
import { SettingsFields } from './settings-fields.tsx';
import { Snippet } from './snippet.tsx';
import { TokenSettings } from './token-settings.tsx';
import { WebsiteFields } from './website-fields.tsx';

/** One deployment: its appearance beside the widget, the websites that may show it, limits, and visitors' tokens. */
export function DeploymentEditor({ id }: { id: string }) {
	const query = useQuery(deploymentById(id));
	return <QueryContent query={query}>{(deployment) => <Editor deployment={deployment} />}</QueryContent>;
}

function Editor({ deployment }: { deployment: Versioned<Deployment> }) {
	const s = strings();
	const t = s.deploymentPages;
	const { value: stored, etag } = deployment;
	const tab = currentTab(TABS.map((value) => ({ value })));
	const { draft, save, changeStatus } = useDeploymentForm(deployment);
	const { rejected } = save;
	const isWriter = may('deployments:write');
	const bar = isWriter && <SaveBar draft={draft} isBusy={save.isBusy} onSave={save.run} />;
	return (
		<>
			<PageHeader title={stored.name} back={{ label: s.deployments, href: linkTo(['deployments']) }}>
				<ShortId id={stored.id} />
				{isWriter && <ArchiveButton status={stored.status} texts={t} onChange={changeStatus} />}
			</PageHeader>
			<Tabs label={t.tabs} tabs={TABS.map((value) => ({ value, label: t[`${value}Tab`] }))} />
			{save.conflict}
			{tab === 'appearance' && (
				<div class="columns preview-columns">
					<form class="card" onSubmit={(event) => event.preventDefault()}>
						<AppearanceFields draft={draft} rejected={rejected} />
						{bar}
					</form>
					<Preview deploymentId={stored.id} values={draft.values} />
				</div>
			)}
			{tab === 'websites' && (
				<>
					<form class="card narrow" onSubmit={(event) => event.preventDefault()}>
						<WebsiteFields draft={draft} rejected={rejected} />
						{bar}
					</form>
					<OriginCheck deploymentId={stored.id} domains={filled(draft.values.allowed_domains)} />
					<Snippet deploymentId={stored.id} />
				</>
			)}
			{tab === 'settings' && (
				<form class="card narrow" onSubmit={(event) => event.preventDefault()}>
					<SettingsFields draft={draft} rejected={rejected} />
					{bar}
				</form>
			)}
			{tab === 'tokens' && <TokenSettings key={etag} deployment={deployment} />}
		</>
	);
}

/** Another retention erases conversations at once: also null, where the workspace keeps them for a shorter time. */
async function confirmErasure(days: number | null | undefined): Promise<boolean> {
	if (days === undefined) return true;
	if (days !== null) return confirmRetention(days);
	const t = strings().deploymentPages;
	return confirm({ title: t.retentionTitle, text: t.retentionText, action: strings().save });
}

/** The draft of a deployment, and how it and its status are saved. */
function useDeploymentForm(version: Versioned<Deployment>) {
	const stored = version.value;
	const currency = useCurrency();
	const draft = useDraft<DeploymentFields>(`deployments/${stored.id}`, fieldsOf(stored));
	const params = { path: { id: stored.id } };
	const save = useConditionalSave<Deployment, DeploymentFields>({
		version,
		draft,
		fieldsOf,
		pointers: pointersOf(draft.values),
		confirm: () => confirmErasure(draft.changes.retention_days),
		update: (headers) =>
			versionedResultOf(api.PATCH('/api/v1/deployments/{id}', { params, body: patchOf(draft.changes), headers })),
		load: () => versionedResultOf(api.GET('/api/v1/deployments/{id}', { params })),
		show: showDeployment,
		labelOf: (field) => labelOf(strings(), field),
		textOf: (values, field) =>
			field === 'budget' || field === 'visitor_budget'
				? budgetText(values[field], currency ?? '')
				: plainText(values, field),
	});
	const wrongPath = save.rejected?.details[0]?.path;
	useEffect(() => {
		if (wrongPath !== undefined) changeQuery({ tab: tabOf(wrongPath) });
	}, [save.rejected]);
	const changeStatus = async (status: Deployment['status']) =>
		showDeployment(await versionedResultOf(api.PATCH('/api/v1/deployments/{id}', { params, body: { status } })));
	return { draft, save, changeStatus };
}
