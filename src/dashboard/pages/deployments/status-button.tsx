import { api, versionedResultOf } from '../../api/client.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { Status } from '../../components/status.tsx';
import { useAction } from '../../forms/use-action.ts';
import { strings } from '../../languages/index.ts';
import { type Deployment, showDeployment } from './queries.ts';

/** Archives a deployment, or activates it again. */
export function StatusButton({ deployment: { id, status } }: { deployment: Deployment }) {
	const t = strings().deploymentPages;
	const change = useAction(async (next: Deployment['status']) => {
		const question = { title: t.archiveTitle, text: t.archiveText, action: t.archive };
		if (next === 'archived' && !(await confirm(question))) return;
		const call = api.PATCH('/api/v1/deployments/{id}', { params: { path: { id } }, body: { status: next } });
		showDeployment(await versionedResultOf(call));
		showToast(next === 'archived' ? t.archivedNow : t.activatedNow);
	});
	if (status === 'archived') {
		return (
			<>
				<Status tone="grey">{t.archived}</Status>
				<Button isBusy={change.isBusy} onClick={() => void change.run('active')}>
					{t.activate}
				</Button>
			</>
		);
	}
	return (
		<Button isBusy={change.isBusy} onClick={() => void change.run('archived')}>
			{t.archive}
		</Button>
	);
}
