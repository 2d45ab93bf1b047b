import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { may } from '../../app/session.ts';
import { SaveBar } from '../../forms/save-bar.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useTransientDraft } from '../../forms/use-transient-draft.ts';
import { strings } from '../../languages/index.ts';
import { type Deployment, showDeployment } from './queries.ts';
import { TokenChecker } from './token-checker.tsx';
import { TokenCode } from './token-code-view.tsx';
import {
	TOKEN_POINTERS,
	type TokenFields,
	tokenFieldsOf,
	tokenLabelOf,
	tokenPatchOf,
	tokenTextOf,
} from './token-fields.ts';
import { TokenFieldset } from './token-fieldset.tsx';

/** How visitors identify themselves, code that makes their tokens, and a check of a token. */
export function TokenSettings({ deployment }: { deployment: Versioned<Deployment> }) {
	const t = strings().deploymentPages;
	const stored = deployment.value;
	// Not kept in the browser's storage: it may hold a secret.
	const draft = useTransientDraft<TokenFields>(tokenFieldsOf(stored));
	const params = { path: { id: stored.id } };
	const save = useConditionalSave<Deployment, TokenFields>({
		version: deployment,
		draft,
		fieldsOf: tokenFieldsOf,
		pointers: TOKEN_POINTERS,
		update: (headers) =>
			versionedResultOf(api.PATCH('/api/v1/deployments/{id}', { params, body: tokenPatchOf(draft.values), headers })),
		load: () => versionedResultOf(api.GET('/api/v1/deployments/{id}', { params })),
		show: showDeployment,
		labelOf: (field) => tokenLabelOf(t, field),
		textOf: tokenTextOf,
	});
	return (
		<>
			{save.conflict}
			<form class="card narrow" onSubmit={(event) => event.preventDefault()}>
				<TokenFieldset draft={draft} rejected={save.rejected} hasSecret={stored.jwt?.secret != null} />
				{may('deployments:write') && <SaveBar draft={draft} isBusy={save.isBusy} onSave={save.run} />}
			</form>
			{draft.values.algorithm !== '' && <TokenCode fields={draft.values} />}
			{stored.jwt !== null && <TokenChecker deploymentId={stored.id} isSaved={!draft.isDirty} />}
		</>
	);
}
