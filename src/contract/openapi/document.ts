import { type Operation, type OperationTable, takesIdempotencyKey } from '../operation.ts';
import { operations } from '../operations.ts';
import { serverStateOperations, Unreadiness } from '../server-state.ts';
import { Components, type JsonSchema } from './components.ts';
import { exampleOf } from './examples.ts';
import { introduction } from './introduction.ts';
import { outgoingWebhooks } from './outgoing.ts';
import { parametersOf } from './parameters.ts';
import { responsesOf, stateResponse } from './responses.ts';
import { securityOf, securitySchemes } from './security.ts';
import { TAGS } from './tags.ts';

const IDEMPOTENCY_KEY_IGNORED =
	'An `Idempotency-Key` is ignored here (a malformed one is a 400): no response is stored.';

/** The content types of multipart files. */
const FILE_TYPES =
	'application/pdf, application/vnd.openxmlformats-officedocument.wordprocessingml.document, text/html, text/markdown, text/plain';

/** The OpenAPI 3.1 document of the API, made from the operation table. All its values are JSON. */
export function openApiDocument(version: string): object {
	const components = new Components();
	const table = Object.entries<OperationTable[string]>({ ...operations, ...serverStateOperations });
	const paths: Record<string, Record<string, object>> = {};
	for (const [operationId, operation] of table) {
		const described = describe(operationId, operation, components);
		// The only 503 without the error envelope: its body is a state, like that of the 200.
		if (operationId === 'getReadiness') {
			described.responses[503] = stateResponse('Not ready.', Unreadiness, components);
		}
		paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described };
	}
	const webhooks = outgoingWebhooks(components);
	const tags = [...new Set(table.map(([, { tag }]) => tag))];
	return {
		openapi: '3.1.0',
		info: {
			title: 'Parley API',
			version,
			summary: 'Assistants that answer from your own documents, in your own pages.',
			description: introduction,
			// Each server has its own operator, whose address is not known here.
			contact: { name: 'The operator of this server' },
			license: { name: 'MIT', identifier: 'MIT' },
		},
		servers: [{ url: '/', description: 'This server.' }],
		tags: tags.map((name) => ({ name, description: TAGS[name] })),
		paths,
		webhooks,
		components: { securitySchemes, ...components.all() },
	};
}

function describe(operationId: string, operation: Operation, components: Components) {
	const { summary, tag, access, body, multipart } = operation;
	const scope = access.kind === 'key' && access.scope !== null ? `Scope: \`${access.scope}\`.` : undefined;
	const key = operation.method === 'POST' && !takesIdempotencyKey(operation) ? IDEMPOTENCY_KEY_IGNORED : undefined;
	const description = [operation.description, key, scope].filter((text) => text !== undefined).join('\n\n');
	return {
		operationId,
		summary,
		...(description === '' ? {} : { description }),
		tags: [tag],
		security: securityOf(access),
		parameters: parametersOf(operation, components),
		...(body || multipart ? { requestBody: requestBody(operation, components) } : {}),
		responses: responsesOf(operation, components),
	};
}

function requestBody({ body, maxBodyBytes, multipart, examples }: Operation, components: Components): object {
	const content: Record<string, object> = {};
	if (body) content['application/json'] = { schema: components.schema(body), ...bodyExamples(body, examples) };
	if (multipart) {
		content['multipart/form-data'] = {
			schema: components.schema(multipart),
			example: exampleOf(multipart),
			...(hasFile(multipart) ? { encoding: { file: { contentType: FILE_TYPES } } } : {}),
		};
	}
	const description = maxBodyBytes === undefined ? {} : { description: `At most ${maxBodyBytes / 1024} KiB.` };
	return { ...description, required: true, content };
}

function bodyExamples(body: object, examples: Operation['examples']): object {
	if (!examples) return { example: exampleOf(body) };
	const entries = Object.entries(examples).map(([summary, value]) => [slug(summary), { summary, value }]);
	return { examples: Object.fromEntries(entries) };
}

function hasFile(schema: object): boolean {
	return 'file' in ((schema as { properties?: JsonSchema }).properties ?? {});
}

function slug(text: string): string {
	return text
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, '-')
		.replaceAll(/^-|-$/g, '');
}
