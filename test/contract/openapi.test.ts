import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ERROR_CODES, type ErrorCode } from '../../src/base/index.ts';
import {
	type Operation,
	openApiDocument,
	operations,
	STREAM_EVENTS,
	serverStateOperations,
} from '../../src/contract/index.ts';
import { ApiDescription, type DescribedOperation, type JsonSchema, type OpenApiDocument } from '../support/openapi.ts';

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as OpenApiDocument;
const api = new ApiDescription(document);
const table = Object.entries<Operation>({ ...operations, ...serverStateOperations });

function described(id: string): DescribedOperation {
	return api.operations.find((operation) => operation.id === id) ?? assert.fail(`${id} is not described`);
}

const namesIn = ({ parameters }: DescribedOperation, place: string) =>
	parameters.flatMap((parameter) => (parameter.in === place ? [parameter.name] : []));

/** Every member of this name, anywhere in a value. */
function membersOf(value: unknown, name: string): unknown[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, member]) => [
		...(key === name ? [member] : []),
		...membersOf(member, name),
	]);
}

test('is unchanged by serialisation as JSON', () => {
	assert.deepEqual(document, openApiDocument('1.2.3'));
	assert.match(document.openapi, /^3\.1\.\d$/);
	assert.equal(document.info.version, '1.2.3');
	assert.doesNotMatch(JSON.stringify(document), /"~|undefined/);
});

test('describes every operation once, under its method and path, in a described group', () => {
	assert.deepEqual(
		api.operations.map(({ id, method, path, summary }) => `${id} ${method} ${path} ${summary}`).toSorted(),
		table.map(([id, { method, path, summary }]) => `${id} ${method} ${path} ${summary}`).toSorted(),
	);
	const groups = new Map(document.tags.map(({ name, description }) => [name, description]));
	assert.equal(groups.size, document.tags.length);
	for (const [id, { tag }] of table) {
		assert.ok(groups.get(tag), `the group ${tag} of ${id} needs a sentence in src/contract/openapi/tags.ts`);
	}
});

test('describes the parameters of path and query, each once', () => {
	for (const [id, { path, query }] of table) {
		const operation = described(id);
		assert.deepEqual(
			namesIn(operation, 'path').map((name) => `{${name}}`),
			path.match(/\{\w+\}/g) ?? [],
		);
		const { properties = {}, required = [] } = (query ?? {}) as { properties?: object; required?: string[] };
		assert.deepEqual(namesIn(operation, 'query'), Object.keys(properties), id);
		for (const parameter of operation.parameters) {
			assert.ok(parameter.description, `${id}: ${parameter.name} needs a description`);
			const needed = parameter.in === 'path' || (parameter.in === 'query' && required.includes(parameter.name));
			assert.equal(parameter.required, needed, `${id}: ${parameter.name}`);
		}
	}
});

test('lists the headers that an operation reads among its parameters', () => {
	const expected = (id: string): string[] => namesIn(described(id), 'header');
	assert.deepEqual(expected('createAssistant'), ['Idempotency-Key']);
	assert.deepEqual(expected('getAssistant'), ['If-None-Match']);
	assert.deepEqual(expected('updateAssistant'), ['If-Match']);
	assert.deepEqual(expected('deleteKnowledgeBase'), ['If-Match']);
	assert.deepEqual(expected('listAssistants'), []);
	assert.deepEqual(expected('followConversation'), ['Last-Event-ID']);
	assert.deepEqual(expected('sendWidgetMessage'), ['Idempotency-Key', 'Origin']);
	assert.deepEqual(expected('getWidgetConfig'), ['If-None-Match', 'Origin']);
});

test('describes who may call every operation', () => {
	const schemes = Object.keys(document.components.securitySchemes as object);
	assert.deepEqual(schemes, ['apiKey', 'session', 'visitorToken']);
	const expected = {
		key: () => [['apiKey'], ['session']],
		session: () => [['session']],
		widget: (token: boolean) => (token ? [[], ['visitorToken']] : []),
		public: () => [],
	};
	for (const [id, { access }] of table) {
		const { security, responses } = described(id);
		assert.deepEqual(security, expected[access.kind]('token' in access && access.token), id);
		if (security.length > 0) assert.ok(responses.has(401), id);
	}
});

test('describes an upload as multipart and every other body as JSON', () => {
	for (const [id, { body, multipart }] of table) {
		const types = [...(body ? ['application/json'] : []), ...(multipart ? ['multipart/form-data'] : [])];
		assert.deepEqual(Object.keys(described(id).body), types, id);
	}
});

test('describes the responses of every operation: whole, streamed and 304', () => {
	for (const [id, { method, status = 200, streams, versioned, download, textForm }] of table) {
		const { responses } = described(id);
		const successes = [...responses].filter(([its]) => its < 400);
		const types = Object.fromEntries(successes.map(([its, { content }]) => [its, Object.keys(content)]));
		const whole = [download ?? 'application/json', ...(textForm ? [textForm] : [])];
		const isStreamDescribed = streams === 'always' || (streams === 'asked' && method !== 'GET');
		assert.deepEqual(
			types,
			{
				...(streams === 'always' ? {} : { [status]: whole }),
				...(isStreamDescribed ? { 200: ['text/event-stream'] } : {}),
				...(versioned && method === 'GET' ? { 304: [] } : {}),
			},
			id,
		);
		for (const [its, { headers }] of responses) {
			assert.equal(headers['X-Request-Id']?.required, true, `${id} ${its}`);
		}
		for (const [its, { headers }] of successes) assert.equal('ETag' in headers, versioned === true, `${id} ${its}`);
	}
});

test('describes every error with the envelope and the codes of its status', () => {
	const seen = new Set<ErrorCode>();
	for (const { id, responses } of api.operations) {
		for (const [status, { description, content }] of responses) {
			// Not ready is a state, with the same schema as ready.
			if (status < 400 || (id === 'getReadiness' && status === 503)) continue;
			assert.deepEqual(Object.keys(content), ['application/json'], `${id} ${status}`);
			const media = content['application/json'] ?? assert.fail();
			assert.ok(media.schema.allOf?.some(({ $ref }) => $ref === '#/components/schemas/Error'));
			const [codes] = membersOf(media.schema, 'enum') as ErrorCode[][];
			assert.ok(codes && codes.length > 0, `${id} ${status}`);
			for (const code of codes) {
				assert.equal(ERROR_CODES[code]?.[0], status, `${id} ${code}`);
				assert.ok(description.includes(`\`${code}\``));
				seen.add(code);
			}
			assert.deepEqual(
				api.examples(media).map(([name]) => name),
				codes,
			);
		}
		for (const status of [400, 500, 503]) assert.ok(responses.has(status), `${id} ${status}`);
	}
	// A wrong method reaches no operation, and resource_limit is in a document's error only.
	// The introduction describes both.
	const elsewhere: ErrorCode[] = ['method_not_allowed', 'resource_limit'];
	const everywhere = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => !elsewhere.includes(code));
	assert.deepEqual([...seen].toSorted(), everywhere.toSorted());
	for (const code of Object.keys(ERROR_CODES)) assert.ok(document.info.description.includes(`\`${code}\``), code);
});

test('describes each status of the API on the operations that can return it', () => {
	const statusesOf = (id: keyof typeof operations) => [...described(id).responses.keys()];
	assert.deepEqual(statusesOf('createAssistant'), [201, 400, 401, 403, 413, 429, 500, 503]);
	assert.deepEqual(statusesOf('getAssistant'), [200, 304, 400, 401, 403, 404, 429, 500, 503]);
	assert.deepEqual(statusesOf('updateAssistant'), [200, 400, 401, 403, 404, 412, 413, 429, 500, 503]);
	assert.deepEqual(statusesOf('listAssistants'), [200, 400, 401, 403, 429, 500, 503]);
	assert.deepEqual(statusesOf('getWidgetConfig'), [200, 304, 400, 403, 404, 429, 500, 503]);
});

test('has only valid JSON Schemas of the dialect of OpenAPI 3.1', () => {
	const schemas = [...membersOf(document, 'schema'), ...Object.values(document.components.schemas ?? {})];
	assert.ok(schemas.length > 100);
	for (const schema of schemas) api.check(schema as JsonSchema);
});

/** Every schema in an object, with its path. Examples contain no schemas. */
function objectSchemas(value: unknown, place = '#'): Array<[place: string, schema: JsonSchema]> {
	if (typeof value !== 'object' || value === null) return [];
	const { type } = value as { type?: unknown };
	const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
	const members = Object.entries(value).filter(([name]) => !['example', 'examples', 'default', 'const'].includes(name));
	return [
		...(isObject ? ([[place, value]] as Array<[string, JsonSchema]>) : []),
		...members.flatMap(([name, member]) => objectSchemas(member, `${place}/${name}`)),
	];
}

test('declares the members of every object, or that it accepts any, for generated clients', () => {
	const schemas = objectSchemas(document);
	assert.ok(schemas.length > 100);
	const silent = schemas.filter(
		([, schema]) => !('properties' in schema || 'additionalProperties' in schema || 'oneOf' in schema),
	);
	assert.deepEqual(
		silent.map(([place]) => place),
		[],
	);
});

test('has a target for every reference and a reference to every component', () => {
	const references = new Set(membersOf(document, '$ref') as string[]);
	for (const $ref of references) api.resolve({ $ref });
	for (const [kind, members] of Object.entries(document.components)) {
		if (kind === 'securitySchemes') continue;
		for (const name of Object.keys(members)) {
			assert.match(name, /^[A-Za-z0-9._-]+$/);
			assert.ok(references.has(`#/components/${kind}/${name}`), `${kind}/${name}`);
		}
	}
});

test('gives every exported schema of the contract its name in generated clients', async () => {
	const used = new Set<unknown>();
	const walk = (value: unknown): void => {
		if (typeof value !== 'object' || value === null || used.has(value)) return;
		used.add(value);
		for (const member of Object.values(value)) walk(member);
	};
	for (const [, { body, multipart, result }] of table) for (const part of [body, multipart, result]) walk(part);
	const folder = new URL('../../src/contract/', import.meta.url);
	const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
	// The generic shapes (a list, an empty object) are described inline.
	const names = files.map((file) => file.slice(0, -3)).filter((name) => name !== 'shapes');
	const modules: object[] = await Promise.all(names.map((name) => import(`../../src/contract/${name}.ts`)));
	const named = modules
		.flatMap((module) => Object.entries(module))
		.filter(([, value]) => {
			const isSchema = typeof value === 'object' && value !== null && ('~kind' in value || '~unsafe' in value);
			return isSchema && used.has(value);
		});
	assert.ok(named.length > 60, String(named.length));
	for (const [name] of named) {
		assert.ok(name in (document.components.schemas ?? {}), `${name}: list its file in src/contract/openapi/names.ts`);
	}
});

test('describes the events of a stream individually, distinguished by type', () => {
	for (const [id, { streams, method, access }] of table) {
		if (!streams || (streams === 'asked' && method === 'GET')) continue;
		const media = described(id).responses.get(200)?.content['text/event-stream'] ?? assert.fail(id);
		const union = api.resolve<JsonSchema>(media.schema);
		const names = STREAM_EVENTS.filter((name) => access.kind !== 'widget' || !name.startsWith('note.'));
		assert.deepEqual(Object.keys(union.discriminator?.mapping ?? {}), names);
		assert.deepEqual(
			union.oneOf?.map((each) => api.resolve<JsonSchema>(each).properties?.type?.const),
			names,
		);
	}
});

test('has a chosen example for every body and response, which matches its schema', () => {
	for (const { id, body, responses, parameters } of api.operations) {
		const responseMedia = [...responses].flatMap(([status, { content }]) =>
			Object.entries(content).map(([type, media]) => [`${status} ${type}`, media] as const),
		);
		for (const [what, media] of [...Object.entries(body), ...responseMedia]) {
			const examples = api.examples(media);
			assert.ok(examples.length > 0, `${id} ${what}`);
			for (const [name, value] of examples) {
				assert.equal(api.check(media.schema)(value), null, `${id} ${what} ${name}`);
				assertChosen(value, `${id} ${what} ${name}`);
			}
		}
		for (const { name, schema } of parameters) {
			for (const example of schema.examples ?? []) assert.equal(api.check(schema)(example), null, `${id} ${name}`);
		}
		const ids = parameters.filter((parameter) => parameter.in === 'path');
		for (const { name, schema } of ids) assert.ok(schema.examples, `${id}: what does {${name}} name?`);
	}
});

/** A string without an example is shown as three dots. */
function assertChosen(value: unknown, place: string): void {
	assert.notEqual(value, '…', `${place}: give this field's schema \`examples\` in src/contract`);
	if (typeof value !== 'object' || value === null) return;
	for (const [name, member] of Object.entries(value)) assertChosen(member, `${place}/${name}`);
}

test('lists the operations of the contract in docs/api.md', async () => {
	const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
	const listed = [...page.matchAll(/^\| `([A-Z]+ \/\S+)` \| (.+) \|$/gm)].map(([, route, what]) => [route, what]);
	assert.deepEqual(
		listed.toSorted(),
		table.map(([, { method, path, summary }]) => [`${method} ${path}`, summary]).toSorted(),
		'run "npm run docs"',
	);
});
