import { api, type Versioned, versionedResultOf } from '../../api/client.ts';
import { useCurrency } from '../../api/prices.ts';
import { queryClient } from '../../api/queries.ts';
import { may, replaceWorkspace } from '../../app/session.ts';
import { Checkbox, TextField } from '../../components/field.tsx';
import { BudgetField, budgetText } from '../../forms/budget-field.tsx';
import { plainText } from '../../forms/conflict.tsx';
import { confirmRetention, RetentionField } from '../../forms/retention-field.tsx';
import { SaveForm } from '../../forms/save-form.tsx';
import { useConditionalSave } from '../../forms/use-conditional-save.tsx';
import { useDraft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { type Workspace, workspace } from './queries.ts';

type WorkspaceFields = Pick<Workspace, 'name' | 'retention_days' | 'require_totp' | 'budget'>;

/** A budget to begin with. */
const SUGGESTED_MICROS = 50_000_000;

const fieldsOf = ({ name, retention_days, require_totp, budget }: Workspace): WorkspaceFields => ({
	name,
	retention_days,
	require_totp,
	budget,
});

/** The name of the workspace, how long it keeps conversations, whether people need a second factor, and what replies may cost. */
export function WorkspaceForm({ stored: version }: { stored: Versioned<Workspace> }) {
	const t = strings().accessPages;
	const texts = strings().costTexts;
	const currency = useCurrency();
	const draft = useDraft<WorkspaceFields>('workspace', fieldsOf(version.value));
	const save = useConditionalSave<Workspace, WorkspaceFields>({
		version,
		draft,
		fieldsOf,
		pointers: ['/name', '/retention_days', '/require_totp', '/budget'],
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
		labelOf: (field) =>
			({
				...{ name: t.workspaceName, retention_days: t.retention, require_totp: t.requireTotp },
				budget: texts.workspaceBudget,
			})[field],
		textOf: (values, field) =>
			field === 'budget' ? budgetText(values.budget, currency ?? '') : plainText(values, field),
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
				{currency !== null && (
					<>
						<BudgetField
							label={texts.workspaceBudget}
							hint={texts.workspaceBudgetHint}
							budget={draft.values.budget}
							currency={currency}
							suggested={SUGGESTED_MICROS}
							rejected={save.rejected}
							pointer="/budget"
							disabled={!may('settings:write')}
							onChange={(budget) => draft.change({ budget })}
						/>
						{draft.values.budget && <p class="hint budget-hint">{texts.budgetHint}</p>}
					</>
				)}
			</SaveForm>
		</div>
	);
}
