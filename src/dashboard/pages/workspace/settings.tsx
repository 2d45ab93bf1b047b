import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { may, replaceWorkspace } from '../../app/session.ts';
import { confirm } from '../../components/confirm.tsx';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { count, fill, strings } from '../../languages/index.ts';
import { type Workspace, workspace } from './queries.ts';

type WorkspaceFields = Pick<Workspace, 'name' | 'retention_days' | 'require_totp'>;

/** Days that a person most likely chooses. */
const SUGGESTED_DAYS = 365;

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
		confirm: () => confirmErasure(draft.changes.retention_days),
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
				<Retention
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

/** A retention erases conversations at once, so it is asked about. */
async function confirmErasure(days: number | null | undefined): Promise<boolean> {
	if (days === null || days === undefined) return true;
	const t = strings().accessPages;
	const title = fill(t.retentionTitle, { days: count(t.forDays, days) });
	return confirm({ title, text: t.retentionText, action: t.retentionAction });
}

function Retention({
	days,
	error,
	onChange,
}: {
	days: number | null;
	error: string | null | undefined;
	onChange: (days: number | null) => void;
}) {
	const t = strings().accessPages;
	return (
		<>
			<SelectField
				label={t.retention}
				hint={days === null ? undefined : t.retentionHint}
				value={days === null ? 'always' : 'days'}
				options={[
					{ value: 'always', label: t.retentionForEver },
					{ value: 'days', label: t.retentionDays },
				]}
				onChange={(value) => onChange(value === 'always' ? null : SUGGESTED_DAYS)}
			/>
			{days !== null && (
				<TextField
					label={t.days}
					inputMode="numeric"
					maxLength={5}
					value={days === 0 ? '' : String(days)}
					error={error}
					onChange={(text) => onChange(Number(text.replace(/\D/g, '')))}
				/>
			)}
		</>
	);
}
