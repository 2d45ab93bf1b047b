import type { TSchema } from 'typebox';
import { ERROR_CODES, type ErrorCode } from '../../base/index.ts';
import type { Operation } from '../operation.ts';
import { ErrorEnvelope } from '../shapes.ts';
import { streamEventSchemas, widgetStreamEventSchemas } from '../stream-events.ts';
import type { Components, JsonSchema } from './components.ts';
import { errorCodesOf } from './error-codes.ts';
import { exampleId, exampleOf } from './examples.ts';
import { commonHeaders, type HeaderName, headersOf, successHeaders } from './headers.ts';
import { idKindOf, pascalCase } from './names.ts';

/** Every response of an operation, by status. */
export function responsesOf(operation: Operation, components: Components): Record<string, object> {
	return { ...successResponseObjects(operation, components), ...errorResponseObjects(operation, components) };
}

/** Examples of a success in another form than its first one. */
const TEXT_EXAMPLES = { 'text/markdown': '# Where is my order?', 'text/csv': '"created_at","action"\r\n' };

function successResponseObjects(operation: Operation, components: Components): Record<string, object> {
	const { status = 200, streams, method, versioned, download, textForm } = operation;
	const headers = headersOf(successHeaders(operation), components);
	const stream = { 'text/event-stream': eventStream(operation, components) };
	const whole = {
		[download ?? 'application/json']: wholeResult(operation, components),
		...(textForm ? { [textForm]: { schema: { type: 'string' }, example: TEXT_EXAMPLES[textForm] } } : {}),
	};
	if (streams === 'always') return { 200: { description: 'The events as they happen.', headers, content: stream } };
	const responses: Record<string, object> = {
		[status]: { description: status === 201 ? 'Made.' : 'Done.', headers, content: whole },
	};
	if (streams === 'asked' && method !== 'GET') {
		if (status === 200)
			throw new Error(`${operation.path} cannot have both a whole and a streamed response with status 200.`);
		responses[200] = { description: 'The events of the reply as they happen.', headers, content: stream };
	}
	if (versioned && method === 'GET') {
		responses[304] = { description: 'The client’s copy is current.', headers };
	}
	return responses;
}

function wholeResult({ path, result }: Operation, components: Components): object {
	const collection = path.split('/').findLast((segment) => !segment.startsWith('{')) ?? '';
	return { schema: components.schema(result), example: exampleOf(result, idKindOf(collection)) };
}

/** A response about the server's own state. */
export function stateResponse(description: string, schema: TSchema, components: Components): object {
	const content = { 'application/json': { schema: components.schema(schema), example: exampleOf(schema) } };
	return { description, headers: headersOf(['X-Request-Id'], components), content };
}

/** The document describes a stream by the `data` of each of its events, distinguished by `type`. */
function eventStream({ access }: Operation, components: Components): object {
	const visitor = access.kind === 'widget';
	const schemas = Object.entries(visitor ? widgetStreamEventSchemas : streamEventSchemas);
	const prefix = visitor ? 'Widget' : '';
	const schema = components.named(`${prefix}StreamEvent`, (): JsonSchema => {
		const references = schemas.map(
			([event, eventSchema]) =>
				[event, components.named(`${prefix}${pascalCase(event)}Event`, () => components.schema(eventSchema))] as const,
		);
		return {
			description:
				'The `data` of an event: one line of JSON, whose `type` repeats the event’s name. To resume, send its `id` as `Last-Event-ID`. Comment lines keep the connection open.',
			oneOf: references.map(([, reference]) => reference),
			discriminator: {
				propertyName: 'type',
				mapping: Object.fromEntries(references.map(([event, { $ref }]) => [event, $ref])),
			},
		};
	});
	const examples = schemas.map(([event, eventSchema]) => [event, { value: exampleOf(eventSchema, 'message') }]);
	return { schema, examples: Object.fromEntries(examples) };
}

function errorResponseObjects(operation: Operation, components: Components): Record<string, object> {
	return Object.fromEntries(
		[...errorCodesOf(operation)].map(([status, codes]) => {
			const make = () =>
				errorResponseObject(status, codes, headersOf(errorHeaders(operation, status), components), components);
			return [status, components.shared('responses', errorResponseName(operation, codes), make)];
		}),
	);
}

/** Equal error responses share a name and are described once. */
function errorResponseName({ access: { kind }, path }: Operation, codes: readonly ErrorCode[]): string {
	const publicPrefix = path.startsWith('/api/') ? 'Public' : 'Server';
	const audience = kind === 'widget' ? 'Visitor' : kind === 'public' ? publicPrefix : '';
	const names = codes
		.filter((code) => !codes.includes('invalid_json') || !BODY_ERROR_CODES.includes(code))
		.map(pascalCase);
	return audience + [...(codes.includes('invalid_json') ? ['BadRequest'] : []), ...names].join('Or');
}

/** The error codes of every operation with a body. */
const BODY_ERROR_CODES: readonly ErrorCode[] = ['invalid_request', 'invalid_json', 'unsupported_content_type'];

function errorHeaders(operation: Operation, status: number): HeaderName[] {
	return [
		...commonHeaders(operation),
		...(status === 401 ? (['WWW-Authenticate'] as const) : []),
		...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
	];
}

function errorResponseObject(
	status: number,
	codes: readonly ErrorCode[],
	headers: Record<string, object>,
	components: Components,
): object {
	const code = { type: 'string', enum: codes };
	const narrowed = { type: 'object', properties: { error: { type: 'object', properties: { code } } } };
	return {
		description: codes.map((each) => `\`${each}\`: ${ERROR_CODES[each][1]}`).join('\n\n'),
		headers,
		content: {
			'application/json': {
				schema: { allOf: [components.schema(ErrorEnvelope), narrowed] },
				examples: Object.fromEntries(
					codes.map((each) => [
						each,
						components.shared('examples', each, () => ({ value: errorExample(status, each) })),
					]),
				),
			},
		},
	};
}

function errorExample(status: number, code: ErrorCode): object {
	const extras =
		code === 'invalid_request'
			? { message: '/name is required.', details: [{ path: '/name', message: 'is required' }] }
			: status === 429
				? { message: 'Too many requests. Try again in 5 seconds.', retry_after: 5 }
				: { message: ERROR_CODES[code][1] };
	return { error: { code, ...extras, request_id: exampleId('request') } };
}
