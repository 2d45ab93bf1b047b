import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useQuery } from '../../api/queries.ts';
import { changeQuery, linkTo } from '../../app/route.ts';
import { showToast } from '../../app/toasts.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { currentTab, Tabs } from '../../components/tabs.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { AppearanceFields } from './appearance-fields.tsx';
import { type DeploymentFields, fieldsOf, filled, labelOf, patchOf, pointersOf, TABS, tabOf } from './fields.ts';
import { OriginCheck } from './origin-check.tsx';
import { Preview } from './preview.tsx';
import { type Deployment, deploymentById, showDeployment } from './queries.ts';
import { SettingsFields } from './settings-fields.tsx';
import { Snippet } from './snippet.tsx';
import { StatusButton } from './status-button.tsx';
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
	const { draft, save, conflict } = useDeploymentForm(deployment);
	const { rejected } = save;
	const bar = <SaveBar draft={draft} isBusy={save.isBusy} onSave={() => void save.run(etag)} />;
	return (
		<>
			<PageHeader title={stored.name} back={{ label: s.deployments, href: linkTo(['deployments']) }}>
				<ShortId id={stored.id} />
				<StatusButton deployment={stored} />
			</PageHeader>
			<Tabs label={t.tabs} tabs={TABS.map((value) => ({ value, label: t[`${value}Tab`] }))} />
			{conflict}
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

/** The draft of a deployment, how it is saved, and the two versions where somebody else has changed it meanwhile. */
function useDeploymentForm({ value: stored }: Versioned<Deployment>) {
	const s = strings();
	const t = s.deploymentPages;
	const draft = useDraft<DeploymentFields>(`deployments/${stored.id}`, fieldsOf(stored));
	const [conflicting, setConflicting] = useState<Versioned<Deployment> | null>(null);
	const params = { path: { id: stored.id } };
	const finish = (deployment: Versioned<Deployment>) => {
		draft.reset();
		setConflicting(null);
		showDeployment(deployment);
	};
	const save = useAction(async (version: string) => {
		const headers = { 'If-Match': version };
		const call = api.PATCH('/api/v1/deployments/{id}', { params, body: patchOf(draft.changes), headers });
		try {
			finish(await versionedResultOf(call));
			showToast(s.saved);
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 412) throw error;
			setConflicting(await versionedResultOf(api.GET('/api/v1/deployments/{id}', { params })));
		}
	}, pointersOf(draft.values));
	const wrongPath = save.rejected?.details[0]?.path;
	useEffect(() => {
		if (wrongPath !== undefined) changeQuery({ tab: tabOf(wrongPath) });
	}, [save.rejected]);
	const conflict = conflicting && (
		<Conflict
			draft={draft}
			stored={fieldsOf(conflicting.value)}
			labelOf={(field) => labelOf(t, field)}
			onOverwrite={() => void save.run(conflicting.etag)}
			onTakeTheirs={() => finish(conflicting)}
		/>
	);
	return { draft, save, conflict };
}
