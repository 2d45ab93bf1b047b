import { useState } from 'preact/hooks';
import type { ApiError } from '../api/api-error.ts';
import type { Resource } from '../api/client.ts';
import { Field, SelectField } from '../components/field.tsx';
import { fill, locale, strings } from '../languages/index.ts';
import { formatAmount, formatMoney, parseAmount } from '../languages/money.ts';

export type Budget = NonNullable<Resource<'Workspace'>['budget']>;

const EXAMPLE_MICROS = 12_500_000;
/** No amount: the server refuses it, so that a text that is none is never saved as another amount. */
const NO_AMOUNT = -1;

/** A budget: for which period, how much, and what happens when it is used up. */
export function BudgetField({
	label,
	hint,
	budget,
	currency,
	suggested,
	rejected,
	pointer,
	onChange,
	disabled = false,
}: {
	label: string;
	hint?: string;
	budget: Budget | null;
	currency: string;
	/** The micros with which a new budget begins. */
	suggested: number;
	rejected: ApiError | null;
	/** Of the budget in the body of the PATCH. */
	pointer: string;
	onChange: (budget: Budget | null) => void;
	disabled?: boolean;
}) {
	const t = strings().costTexts;
	const choosePeriod = (period: string) => {
		const kept = budget ?? { amount_micros: suggested, at_limit: 'refuse' as const };
		const { amount_micros, at_limit } = kept;
		onChange(period === '' ? null : { amount_micros, period: period as Budget['period'], at_limit });
	};
	return (
		<div class="budget">
			<SelectField
				label={label}
				hint={hint}
				value={budget?.period ?? ''}
				disabled={disabled}
				options={[
					{ value: '', label: t.noBudget },
					{ value: 'day', label: t.budgetDay },
					{ value: 'month', label: t.budgetMonth },
				]}
				onChange={choosePeriod}
			/>
			{budget !== null && (
				<div class="field-grid budget-details">
					<AmountField
						micros={budget.amount_micros}
						currency={currency}
						error={rejected?.messageFor(`${pointer}/amount_micros`)}
						disabled={disabled}
						onChange={(amount_micros) => onChange({ ...budget, amount_micros })}
					/>
					<SelectField
						label={t.atLimit}
						value={budget.at_limit}
						disabled={disabled}
						options={[
							{ value: 'refuse', label: t.refuse },
							{ value: 'fallback', label: t.fallback },
						]}
						onChange={(at_limit) => onChange({ ...budget, at_limit: at_limit as Budget['at_limit'] })}
					/>
				</div>
			)}
		</div>
	);
}

function AmountField({
	micros,
	currency,
	error,
	disabled,
	onChange,
}: {
	micros: number;
	currency: string;
	error: string | null | undefined;
	disabled: boolean;
	onChange: (micros: number) => void;
}) {
	const t = strings().costTexts;
	/** What the person types: "12." is an amount, and is written as another text. */
	const [typed, setTyped] = useState<string | null>(null);
	const amountOf = (text: string) => parseAmount(text, locale.value) ?? NO_AMOUNT;
	// Another amount from outside: the changes were discarded.
	const isTyped = typed !== null && amountOf(typed) === micros;
	const wrong = fill(t.amountWrong, { example: formatAmount(EXAMPLE_MICROS, currency, locale.value) });
	return (
		<Field label={fill(t.amount, { currency })} error={micros === NO_AMOUNT ? wrong : error}>
			{(ids) => (
				<input
					{...ids}
					type="text"
					inputMode="decimal"
					maxLength={20}
					disabled={disabled}
					value={isTyped ? typed : micros === NO_AMOUNT ? '' : formatAmount(micros, currency, locale.value)}
					onInput={({ currentTarget: { value } }) => {
						setTyped(value);
						onChange(amountOf(value));
					}}
					onBlur={() => {
						if (micros !== NO_AMOUNT) setTyped(null);
					}}
				/>
			)}
		</Field>
	);
}

/** A budget in a sentence, for the table of a conflict. */
export function budgetText(budget: Budget | null, currency: string): string {
	const t = strings().costTexts;
	if (budget === null) return t.noBudget;
	const amount = formatMoney(budget.amount_micros, currency, locale.value);
	const sentence = fill(budget.period === 'day' ? t.perDay : t.perMonth, { amount });
	return `${sentence}, ${t[budget.at_limit]}`;
}
