import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { NullableInteger, NullableObject, NullableText, PageOf, PageQuery, Strict } from './shapes.ts';

const micros = (what: string) =>
	Type.Integer({ minimum: 0, description: `For a million tokens of ${what}, in millionths of the currency’s unit.` });

/** What a model costs. */
const Price = Type.Object({
	input_micros: micros('the prompt'),
	output_micros: micros('the response'),
	currency: Type.String({ description: 'The code of ISO 4217.', examples: ['USD'] }),
});

export const Model = Type.Object({
	id: Type.String({
		description: 'A value for an assistant’s `model`; `provider/*` if the provider accepts any name.',
		examples: ['builtin/extractive'],
	}),
	provider: Type.String({ examples: ['builtin'] }),
	name: NullableText({
		description: 'The name within the provider; null if the provider accepts any name.',
		examples: ['extractive'],
	}),
	description: Type.String({ examples: ['Quotes the best-matching sentences of the knowledge bases.'] }),
	context_tokens: NullableInteger({
		minimum: 1,
		description: 'Size of the context window in tokens; null if unknown.',
	}),
	price: NullableObject(Price, {
		description:
			'What its replies cost; null without a price. For `provider/*` it is the price of names that the list does not have.',
		examples: [{ input_micros: 0, output_micros: 0, currency: 'USD' }],
	}),
	default: Type.Boolean({ description: 'Whether assistants without a model use this one.' }),
});
export type Model = Static<typeof Model>;

const { limit, cursor } = PageQuery.properties;
const ListQuery = Strict({ limit, cursor });

/** Models. */
export const modelOperations = {
	listModels: {
		method: 'GET',
		path: '/api/v1/models',
		summary: 'List the configured models',
		description:
			'Any API key may call this operation. A provider that accepts any name is listed with the names that have prices of their own, then as `provider/*`.',
		tag: 'Models',
		access: withKey(null),
		query: ListQuery,
		result: PageOf(Model),
	},
} as const satisfies OperationTable;
