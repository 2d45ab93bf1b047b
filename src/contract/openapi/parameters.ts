import type { TSchema } from 'typebox';
import { type Operation, takesIdempotencyKey } from '../operation.ts';
import type { Components, JsonSchema } from './components.ts';
import { honoursIfMatch } from './error-codes.ts';
import { exampleId } from './examples.ts';
import { idKindOf } from './names.ts';

/** The parameters of an operation's path, query and headers. */
export function parametersOf(operation: Operation, components: Components): object[] {
	return [
		...pathParameters(operation.path),
		...queryParameters(operation.query),
		...headerNames(operation).map((name) => components.shared('parameters', name, () => headerParameter(name))),
	];
}

const HEADERS = {
	'Idempotency-Key': {
		description:
			'Makes the request safe to retry: a repeat within 24 hours gets the same response, and nothing is created twice. The same key with another body is a 400 `idempotency_key_reused`, and so is a repeat of a request about a conversation that was erased.',
		schema: {
			type: 'string',
			minLength: 1,
			maxLength: 255,
			pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
			examples: ['order-4711-question-1'],
		},
	},
	'If-Match': {
		description: 'Only if the resource still has this version (its `ETag`); otherwise 412.',
		schema: { type: 'string', examples: ['"3"'] },
	},
	'If-None-Match': {
		description: 'The `ETag` of the client’s copy. If it is current, the response is a 304.',
		schema: { type: 'string', examples: ['"3"'] },
	},
	'Last-Event-ID': {
		description: 'The `id` of the last event that arrived. The stream continues after it, without gap or repeat.',
		schema: { type: 'string', maxLength: 50, examples: ['12.0'] },
	},
	Origin: {
		description:
			"The origin of the visitor's page, which must be on the deployment's allowlist. Browsers send it; without it, `Referer` is used.",
		schema: { type: 'string', examples: ['https://shop.example'] },
	},
} as const;

type HeaderName = keyof typeof HEADERS;

function headerNames(operation: Operation): HeaderName[] {
	const { method, versioned, streams, access } = operation;
	const names: HeaderName[] = [];
	if (takesIdempotencyKey(operation)) names.push('Idempotency-Key');
	if (honoursIfMatch(operation)) names.push('If-Match');
	if (versioned && method === 'GET') names.push('If-None-Match');
	if (streams === 'always') names.push('Last-Event-ID');
	if (access.kind === 'widget') names.push('Origin');
	return names;
}

function headerParameter(name: HeaderName): object {
	return { name, in: 'header', required: false, ...HEADERS[name] };
}

function pathParameters(path: string): object[] {
	return [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(([, collection = '', name]) => {
		const kind = idKindOf(collection);
		const noun = kind?.replaceAll('_', ' ') ?? collection;
		return {
			name,
			in: 'path',
			required: true,
			description: `Id of the ${noun}.`,
			schema: { type: 'string', ...(kind ? { examples: [exampleId(kind)] } : {}) },
		};
	});
}

function queryParameters(query: TSchema | undefined): object[] {
	if (!query) return [];
	const { properties, required = [] } = query as unknown as {
		properties: Record<string, JsonSchema>;
		required?: string[];
	};
	return Object.entries(properties).map(([name, { description, ...schema }]) => ({
		name,
		in: 'query',
		required: required.includes(name),
		description,
		schema,
	}));
}
