import { type TSchema, Type } from 'typebox';
import { ERROR_CODES } from '../base/index.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { ErrorEnvelope } from './shapes.ts';

const SECURITY = { key: [{ apiKey: [] }], session: [], widget: [], public: [] } as const;

/** The OpenAPI 3.1 document of the API, made from the operation table. */
export function openApiDocument(version: string): object {
	const paths: Record<string, Record<string, object>> = {};
	for (const [operationId, operation] of Object.entries<Operation>(operations)) {
		paths[operation.path] ??= {};
		(paths[operation.path] as Record<string, object>)[operation.method.toLowerCase()] = describe(
			operationId,
			operation,
		);
	}
	return {
		openapi: '3.1.0',
		info: {
			title: 'Parley API',
			version,
			description: 'Assistants that answer from your own documents, in your own pages.',
			license: { name: 'MIT', identifier: 'MIT' },
		},
		servers: [{ url: '/' }],
		tags: [...new Set(Object.values<Operation>(operations).map(({ tag }) => tag))].map((name) => ({ name })),
		paths,
		components: {
			securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (`sk_…`).' } },
			schemas: { Error: ErrorEnvelope },
		},
	};
}

function describe(operationId: string, operation: Operation): object {
	const { summary, tag, access, query, body, multipart, status = 200, result, streams } = operation;
	const success: Record<string, object> = streams === 'always' ? {} : { 'application/json': { schema: result } };
	if (streams) success['text/event-stream'] = { schema: Type.String({ description: 'Server-sent events.' }) };
	const content: Record<string, object> = {};
	if (body) content['application/json'] = { schema: body };
	if (multipart) content['multipart/form-data'] = { schema: multipart };
	return {
		operationId,
		summary,
		tags: [tag],
		security: SECURITY[access.kind],
		...(access.kind === 'key' ? { description: `Scope: \`${access.scope}\`.` } : {}),
		parameters: [...pathParameters(operation.path), ...queryParameters(query)],
		...(body || multipart ? { requestBody: { required: true, content } } : {}),
		responses: {
			[status]: { description: 'Success.', content: success },
			...errors(operation),
		},
	};
}

function pathParameters(path: string): object[] {
	return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
		name,
		in: 'path',
		required: true,
		schema: { type: 'string' },
	}));
}

function queryParameters(query: TSchema | undefined): object[] {
	if (!query) return [];
	const { properties, required = [] } = query as unknown as {
		properties: Record<string, TSchema>;
		required?: string[];
	};
	return Object.entries(properties).map(([name, schema]) => ({
		name,
		in: 'query',
		required: required.includes(name),
		schema,
	}));
}

/** The statuses that an operation's errors can have, each with its codes. */
function errors({ access, path, body, multipart }: Operation): Record<string, object> {
	const statuses = new Set([400, 429, 500, 503]);
	if (access.kind !== 'public') statuses.add(401).add(403);
	if (path.includes('{') || body || access.kind === 'widget') statuses.add(404);
	if (body || multipart) statuses.add(413);
	const codes = Object.entries(ERROR_CODES);
	return Object.fromEntries(
		[...statuses].sort().map((status) => [
			status,
			{
				description: codes.flatMap(([code, [its]]) => (its === status ? [`\`${code}\``] : [])).join(', '),
				content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
			},
		]),
	);
}
