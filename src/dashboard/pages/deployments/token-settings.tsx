import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { showToast } from '../../app/toasts.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useAction } from '../../forms/use-action.ts';
import { useTransientDraft } from '../../forms/use-transient-draft.ts';
import { strings } from '../../languages/index.ts';
import { type Deployment, showDeployment } from './queries.ts';
import { TokenChecker } from './token-checker.tsx';
import { TokenCode } from './token-code-view.tsx';
import { TOKEN_POINTERS, type TokenFields, tokenFieldsOf, tokenLabelOf, tokenPatchOf } from './token-fields.ts';
import { TokenFieldset } from './token-fieldset.tsx';

/** How visitors identify themselves, code that makes their tokens, and a check of a token. */
export function TokenSettings({ deployment: { value: stored, etag } }: { deployment: Versioned<Deployment> }) {
	const s = strings();
	const t = s.deploymentPages;
	// Not kept in the browser's storage: it may hold a secret.
	const draft = useTransientDraft<TokenFields>(tokenFieldsOf(stored));
	const [conflicting, setConflicting] = useState<Versioned<Deployment> | null>(null);
	const params = { path: { id: stored.id } };
	const save = useAction(async (version: string) => {
		const headers = { 'If-Match': version };
		const call = api.PATCH('/api/v1/deployments/{id}', { params, body: tokenPatchOf(draft.values), headers });
		try {
			showDeployment(await versionedResultOf(call));
			showToast(s.saved);
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 412) throw error;
			setConflicting(await versionedResultOf(api.GET('/api/v1/deployments/{id}', { params })));
		}
	}, TOKEN_POINTERS);
	const masked = (fields: TokenFields) => ({ ...fields, secret: fields.secret === '' ? '' : '***' });
	return (
		<>
			{conflicting && (
				<Conflict
					draft={{ ...draft, values: masked(draft.values) }}
					stored={tokenFieldsOf(conflicting.value)}
					labelOf={(field) => tokenLabelOf(t, field)}
					onOverwrite={() => void save.run(conflicting.etag)}
					onTakeTheirs={() => showDeployment(conflicting)}
				/>
			)}
			<form class="card narrow" onSubmit={(event) => event.preventDefault()}>
				<TokenFieldset draft={draft} rejected={save.rejected} hasSecret={stored.jwt?.secret != null} />
				<SaveBar draft={draft} isBusy={save.isBusy} onSave={() => void save.run(etag)} />
			</form>
			{draft.values.algorithm !== '' && <TokenCode fields={draft.values} />}
			{stored.jwt !== null && <TokenChecker deploymentId={stored.id} isSaved={!draft.isDirty} />}
		</>
	);
}
