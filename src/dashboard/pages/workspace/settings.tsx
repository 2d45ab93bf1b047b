import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { may, replaceWorkspace } from '../../app/session.ts';
import { Checkbox, TextField } from '../../components/field.tsx';
import { confirmRetention, RetentionField } from '../../forms/retention-field.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { type Workspace, workspace } from './queries.ts';

type WorkspaceFields = Pick<Workspace, 'name' | 'retention_days' | 'require_totp'>;

const fieldsOf = ({ name, retention_days, require_totp }: Workspace): WorkspaceFields => ({
	name,
	retention_days,
	require_totp,
});

/** The name of the workspace, how long it keeps conversations, and whether people need a second factor. */
export function WorkspaceForm({ stored: version }: { stored: Versioned<Workspace> }) {
	const t = strings().accessPages;
	const draft = useDraft<WorkspaceFields>('workspace', fieldsOf(version.value));
	const save = useConditionalSave<Workspace, WorkspaceFields>({
		version,
		draft,
		fieldsOf,
		pointers: ['/name', '/retention_days', '/require_totp'],
		confirm: async () => {
			const { retention_days } = draft.changes;
			return retention_days == null || confirmRetention(retention_days);
		},
		update: (headers) => versionedResultOf(api.PATCH('/api/v1/workspace', { body: draft.changes, headers })),
		load: () => versionedResultOf(api.GET('/api/v1/workspace')),
		show: (next) => {
			queryClient.setQueryData(workspace().queryKey, next);
			replaceWorkspace(next.value);
		},
		labelOf: (field) => ({ name: t.workspaceName, retention_days: t.retention, require_totp: t.requireTotp })[field],
	});
	return (
		<div>
			<SaveForm draft={draft} save={save}>
				<TextField
					label={t.workspaceName}
					required
					maxLength={200}
					disabled={!may('settings:write')}
					value={draft.values.name}
					error={save.rejected?.messageFor('/name')}
					onChange={(name) => draft.change({ name })}
				/>
				<RetentionField
					withoutDays={t.retentionForEver}
					days={draft.values.retention_days}
					error={save.rejected?.messageFor('/retention_days')}
					onChange={(retention_days) => draft.change({ retention_days })}
				/>
				<Checkbox
					label={t.requireTotp}
					hint={t.requireTotpHint}
					checked={draft.values.require_totp}
					onChange={(require_totp) => draft.change({ require_totp })}
				/>
			</SaveForm>
		</div>
	);
}
