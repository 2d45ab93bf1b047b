import { type Static, Type } from 'typebox';
import { AppError } from '../base/index.ts';
import { NullableObject, ObjectOrNull, OneOf, Patch, Strict } from './shapes.ts';

const fields = {
	amount_micros: Type.Integer({
		minimum: 0,
		maximum: 1_000_000_000_000_000,
		description: 'In millionths of the unit of the server’s currency: 5,000,000 is 5.00 USD.',
		examples: [5_000_000],
	}),
	period: OneOf(['day', 'month'], {
		description: 'It begins at midnight UTC, of the first day of a month.',
		examples: ['month'],
	}),
	at_limit: OneOf(['refuse', 'fallback'], {
		description:
			'What happens to a message that may cost more than is left: it is refused with `usage_limit_reached`, or `builtin/extractive` answers it.',
		examples: ['refuse'],
	}),
};

/** What may be spent on replies in a period. */
export const Budget = Type.Object(fields);
export type Budget = Static<typeof Budget>;

/** A budget in a response. */
export const BudgetOrNull = (description: string) =>
	NullableObject(Budget, { description: `${description} Null: no budget.`, examples: [null] });

/** A budget in a request that creates a resource: the period is a month and messages are refused, unless it says otherwise. */
export const BudgetCreate = ObjectOrNull(
	Strict({
		amount_micros: fields.amount_micros,
		...Patch({ period: fields.period, at_limit: fields.at_limit }).properties,
	}),
);
export type BudgetCreate = Static<typeof BudgetCreate>;

/** A budget in a request that changes a resource. An absent member is unchanged; null removes the budget. */
export const BudgetPatch = ObjectOrNull(Patch(fields));
export type BudgetPatch = Static<typeof BudgetPatch>;

/**
 * A budget after a request.
 * @param path of the field in the request, for the error
 * @throws AppError `invalid_request` for a new budget without an amount
 */
export function mergeBudget(before: Budget | null, change: BudgetPatch | null, path: string): Budget | null {
	if (change === null) return null;
	const { amount_micros, ...rest } = { period: 'month' as const, at_limit: 'refuse' as const, ...before, ...change };
	if (amount_micros !== undefined) return { amount_micros, ...rest };
	const message = 'must have amount_micros';
	throw new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
