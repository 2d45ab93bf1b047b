import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERROR_CODES } from '../../src/base/index.ts';
import { type Operation, openApiDocument, operations } from '../../src/contract/index.ts';

interface Media {
	schema?: object;
}
interface Described {
	operationId: string;
	summary: string;
	tags: string[];
	security: object[];
	parameters: Array<{ name: string; in: string; required: boolean; schema: object }>;
	requestBody?: { required: boolean; content: Record<string, Media> };
	responses: Record<string, { description: string; content: Record<string, Media> }>;
}
interface Document {
	openapi: string;
	info: { title: string; version: string };
	tags: Array<{ name: string }>;
	paths: Record<string, Record<string, Described>>;
	components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
}

const document = openApiDocument('1.2.3') as Document;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);
const table = Object.entries<Operation>(operations);

/** Every member of this name, anywhere in a value. */
function membersOf(value: unknown, name: string): unknown[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, member]) => [
		...(key === name ? [member] : []),
		...membersOf(member, name),
	]);
}

test('the document survives being sent as JSON: nothing in it is lost or strange', () => {
	const text = JSON.stringify(document);
	assert.deepEqual(JSON.parse(text), structuredClone(document));
	assert.equal(document.openapi, '3.1.0');
	assert.equal(document.info.version, '1.2.3');
	assert.doesNotMatch(text, /"~/);
});

test('every operation is described, once, under its method and path', () => {
	assert.deepEqual(
		described.map(({ operation }) => operation.operationId).toSorted(),
		table.map(([id]) => id).toSorted(),
	);
	for (const [id, { method, path, summary }] of table) {
		const operation = document.paths[path]?.[method.toLowerCase()];
		assert.deepEqual([operation?.operationId, operation?.summary], [id, summary]);
	}
});

test('every operation says what it answers: a schema for success and for each error', () => {
	for (const { operation } of described) {
		const statuses = Object.keys(operation.responses);
		assert.equal(statuses.filter((status) => status.startsWith('2')).length, 1, operation.operationId);
		for (const status of ['400', '429', '500'])
			assert.ok(statuses.includes(status), `${operation.operationId} ${status}`);
		for (const [status, { description, content }] of Object.entries(operation.responses)) {
			assert.notEqual(description, '');
			const media = Object.entries(content);
			assert.ok(media.length > 0, `${operation.operationId} ${status}`);
			for (const [type, { schema }] of media) {
				assert.ok(type === 'application/json' || type === 'text/event-stream', type);
				assert.ok(schema, `${operation.operationId} ${status} ${type}`);
			}
		}
	}
});

test('an error is described with the codes that come with its status', () => {
	for (const { operation } of described) {
		for (const [status, { description }] of Object.entries(operation.responses)) {
			if (status.startsWith('2')) continue;
			const codes = [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code as keyof typeof ERROR_CODES);
			assert.ok(codes.length > 0, `${operation.operationId} ${status}`);
			for (const code of codes) assert.equal(ERROR_CODES[code]?.[0], Number(status), code);
		}
	}
});

test('the parameters are those of the path and of the query, each once', () => {
	for (const { path, operation } of described) {
		const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
		assert.deepEqual(
			inPath.map(({ name }) => `{${name}}`),
			path.match(/\{\w+\}/g) ?? [],
		);
		assert.ok(inPath.every(({ required }) => required));
		const query = operations[operation.operationId as keyof typeof operations] as Operation;
		const { properties = {}, required = [] } = (query.query ?? {}) as { properties?: object; required?: string[] };
		const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query');
		assert.deepEqual(
			inQuery.map(({ name }) => name),
			Object.keys(properties),
		);
		assert.deepEqual(
			inQuery.filter((parameter) => parameter.required).map(({ name }) => name),
			required,
		);
	}
});

test('operations of the API ask for a key, those of visitors for none', () => {
	for (const { path, operation } of described) {
		const expected = path.startsWith('/api/v1/widget/') ? [] : [{ apiKey: [] }];
		assert.deepEqual(operation.security, expected, operation.operationId);
		assert.equal('401' in operation.responses, true, operation.operationId);
	}
	assert.deepEqual(Object.keys(document.components.securitySchemes), ['apiKey']);
});

test('a file is uploaded as multipart, everything else is sent as JSON', () => {
	for (const [id, { method, path, body, multipart }] of table) {
		const requestBody = document.paths[path]?.[method.toLowerCase()]?.requestBody;
		const types = [...(body ? ['application/json'] : []), ...(multipart ? ['multipart/form-data'] : [])];
		assert.deepEqual(Object.keys(requestBody?.content ?? {}), types, id);
	}
});

test('every schema in it is a valid JSON Schema of the dialect that OpenAPI 3.1 uses', () => {
	const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
	addFormats.default(ajv, ['date-time', 'uri']);
	ajv.addFormat('binary', true);
	ajv.addSchema({ $id: 'openapi', components: document.components, definitions: {} }, 'openapi', undefined, false);
	const schemas = [...membersOf(document.paths, 'schema'), ...Object.values(document.components.schemas)] as object[];
	assert.ok(schemas.length > 100);
	for (const schema of schemas) {
		if (!('$ref' in schema)) ajv.compile(structuredClone(schema));
	}
});

test('every reference leads to something, and every tag is listed', () => {
	for (const reference of membersOf(document, '$ref') as string[]) {
		const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1];
		assert.ok(name !== undefined && name in document.components.schemas, reference);
	}
	const listed = document.tags.map(({ name }) => name);
	assert.equal(new Set(listed).size, listed.length);
	for (const { operation } of described) for (const tag of operation.tags) assert.ok(listed.includes(tag), tag);
});

test('the statuses that the API may answer are described where they can come', () => {
	const statusesOf = (id: keyof typeof operations): string[] => {
		const { method, path } = operations[id];
		return Object.keys(document.paths[path]?.[method.toLowerCase()]?.responses ?? {});
	};
	assert.ok(statusesOf('createAssistant').includes('201'));
	assert.ok(statusesOf('createAssistant').includes('413'));
	assert.ok(statusesOf('getAssistant').includes('404'));
	assert.ok(statusesOf('getWidgetConfig').includes('403'));
	assert.ok(statusesOf('getWidgetConfig').includes('404'));
	assert.ok(!statusesOf('listAssistants').includes('413'));
});
