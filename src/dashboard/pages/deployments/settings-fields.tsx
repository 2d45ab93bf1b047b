import type { ApiError } from '../../api/api-error.ts';
import { useCurrency } from '../../api/prices.ts';
import { useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { Field, SelectField, TextField } from '../../components/field.tsx';
import { BudgetField } from '../../forms/budget-field.tsx';
import { RetentionField } from '../../forms/retention-field.tsx';
import type { Draft } from '../../forms/use-draft.ts';
import { strings } from '../../languages/index.ts';
import { type DeploymentFields, pointerOf } from './fields.ts';
import { assistantOptions } from './queries.ts';

/** Budgets to begin with. */
const SUGGESTED_MICROS = 20_000_000;
const SUGGESTED_FOR_VISITOR_MICROS = 1_000_000;

/** Name, assistant, limit, time zone, how long conversations are kept, and budgets. */
export function SettingsFields({ draft, rejected }: { draft: Draft<DeploymentFields>; rejected: ApiError | null }) {
	const t = strings().deploymentPages;
	const texts = strings().costTexts;
	const currency = useCurrency();
	const { values, change } = draft;
	const assistants = useQuery(allAssistants()).data;
	const errorOf = (field: keyof DeploymentFields) => rejected?.messageFor(pointerOf(field));
	const options = assistantOptions(assistants);
	// An archived assistant, or an older assistant than those of the list.
	if (!options.some(({ value }) => value === values.assistant_id)) {
		const name = assistants?.rows.find(({ id }) => id === values.assistant_id)?.name;
		options.unshift({ value: values.assistant_id, label: name ?? values.assistant_id });
	}
	return (
		<>
			<TextField
				label={t.name}
				hint={t.nameHint}
				maxLength={200}
				required
				value={values.name}
				error={errorOf('name')}
				onChange={(name) => change({ name })}
			/>
			<SelectField
				label={t.assistant}
				value={values.assistant_id}
				options={options}
				error={errorOf('assistant_id')}
				onChange={(assistant_id) => change({ assistant_id })}
			/>
			<Field label={t.messagesPerMinute} hint={t.messagesPerMinuteHint} error={errorOf('messages_per_minute')}>
				{(ids) => (
					<input
						{...ids}
						type="number"
						class="short"
						min={1}
						max={10_000}
						value={values.messages_per_minute}
						onInput={({ currentTarget: { valueAsNumber } }) => {
							if (!Number.isNaN(valueAsNumber)) change({ messages_per_minute: valueAsNumber });
						}}
					/>
				)}
			</Field>
			<SelectField
				label={t.timeZone}
				hint={t.timeZoneHint}
				value={values.time_zone}
				options={timeZones(values.time_zone).map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
				error={errorOf('time_zone')}
				onChange={(time_zone) => change({ time_zone })}
			/>
			<RetentionField
				withoutDays={t.retentionAsWorkspace}
				days={values.retention_days}
				error={errorOf('retention_days')}
				onChange={(retention_days) => change({ retention_days })}
			/>
			{currency !== null && (
				<>
					<BudgetField
						label={texts.deploymentBudget}
						budget={values.budget}
						{...{ currency, rejected, suggested: SUGGESTED_MICROS, pointer: '/budget' }}
						onChange={(budget) => change({ budget })}
					/>
					<BudgetField
						label={texts.visitorBudget}
						hint={texts.visitorBudgetHint}
						budget={values.visitor_budget}
						{...{ currency, rejected, suggested: SUGGESTED_FOR_VISITOR_MICROS, pointer: '/visitor_budget' }}
						onChange={(visitor_budget) => change({ visitor_budget })}
					/>
					{(values.budget ?? values.visitor_budget) && <p class="hint budget-hint">{texts.budgetHint}</p>}
				</>
			)}
		</>
	);
}

/** The time zones that the browser knows, with UTC and the present one. */
function timeZones(present: string): string[] {
	return [...new Set(['UTC', present, ...Intl.supportedValuesOf('timeZone')])].toSorted();
}
