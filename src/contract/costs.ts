import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { Id, NullableText, OneOf, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';

const micros = (description: string) => Type.Integer({ description });
const sums = {
	cost_micros: micros('What replies have cost, in millionths of the unit of the currency.'),
	reserved_micros: micros('What is reserved, because of budgets, for replies that are being written.'),
};

/** The costs of a day, a deployment, a visitor or a model. */
export const CostSum = Type.Object({
	day: NullableText({ format: 'date-time', description: 'Its beginning, in UTC. Null unless grouped by day.' }),
	deployment_id: NullableText({ description: 'Null unless grouped by deployment or visitor.' }),
	visitor_id: NullableText({ description: 'The `visitor_id` of conversations. Null unless grouped by visitor.' }),
	model: NullableText({ description: 'Null unless grouped by model.' }),
	...sums,
});
export type CostSum = Static<typeof CostSum>;

export const CostsPage = Type.Object({
	...PageOf(CostSum).properties,
	from: Timestamp,
	to: Timestamp,
	currency: Type.String({ examples: ['USD'] }),
	total: Type.Object(sums, { description: 'Of the whole range, and of `deployment_id` where it is given.' }),
});
export type CostsPage = Static<typeof CostsPage>;

const { limit, cursor } = PageQuery.properties;
/** The order is fixed. */
export const CostsQuery = Strict({
	from: Type.Optional(Type.String({ format: 'date-time', description: 'Default: 30 days before `to`.' })),
	to: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
	group_by: Type.Optional(OneOf(['day', 'deployment', 'visitor', 'model'], { description: 'Default: `day`.' })),
	deployment_id: Type.Optional(Id('Only the costs of this deployment.')),
	limit,
	cursor,
});
export type CostsQuery = Static<typeof CostsQuery>;

/** What replies have cost. */
export const costOperations = {
	listCosts: {
		method: 'GET',
		path: '/api/v1/costs',
		summary: 'List the costs of a time range',
		description:
			'Of the replies of models with a price, suggested replies included, by day (the latest first), or by deployment, visitor or model (the highest costs first). Days are those of UTC: the range is extended to whole ones, at most 800, and `from` and `to` of the response are its real ends. A reply counts on the day on which it began. An account whose costs change while a client reads the pages may be on two of them or on none. Costs are kept for 25 months, those of visitors for 62 days. The removal of conversations does not change them; the erasure of an end user removes the costs by that visitor.',
		tag: 'Costs',
		access: withKey('conversations:read'),
		query: CostsQuery,
		result: CostsPage,
	},
} as const satisfies OperationTable;
