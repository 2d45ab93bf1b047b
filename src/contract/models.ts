import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { NullableInteger, NullableText, PageOf, PageQuery, Strict } from './shapes.ts';

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
		description: 'Any API key may call this operation.',
		tag: 'Models',
		access: withKey(null),
		query: ListQuery,
		result: PageOf(Model),
	},
} as const satisfies OperationTable;
