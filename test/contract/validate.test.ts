import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { AppError } from '../../src/base/index.ts';
import { SettingsSchema } from '../../src/config/index.ts';
import {
	AssistantCreate,
	AssistantPatch,
	bodyValidator,
	ConversationListQuery,
	DeploymentCreate,
	type Operation,
	operations,
	queryValidator,
	SendMessage,
	ToolCreate,
} from '../../src/contract/index.ts';

const assistant = bodyValidator(AssistantCreate);
const deployment = bodyValidator(DeploymentCreate);
const conversations = queryValidator(ConversationListQuery);

type Complaint = [path: string, message: string];

/** The details of a rejected value: each path with its reason. The message is about the first. */
function complaints(check: (value: unknown) => unknown, value: unknown): Complaint[] {
	try {
		check(value);
	} catch (error) {
		assert.ok(error instanceof AppError, String(error));
		const { code, status, details = [] } = error;
		assert.deepEqual([code, status], ['invalid_request', 400]);
		const [{ path, message }] = details as [{ path: string; message: string }];
		assert.equal(error.message, `${path === '' ? 'The request body' : path} ${message}.`);
		return details.map((detail) => [detail.path, detail.message]);
	}
	return assert.fail(`${JSON.stringify(value)} was taken`);
}

/** The same for a value with one error. */
function complaint(check: (value: unknown) => unknown, value: unknown): Complaint {
	const all = complaints(check, value);
	assert.equal(all.length, 1, JSON.stringify(all));
	return all[0] as Complaint;
}

test('returns a valid value unchanged: nothing is added, coerced or removed', () => {
	const value = { name: 'Helper', description: null, rag_settings: { top_k: 50, min_score: 0 } };
	assert.equal(assistant(value), value);
	assert.deepEqual(value, { name: 'Helper', description: null, rag_settings: { top_k: 50, min_score: 0 } });
	assert.deepEqual(assistant({ name: 'x' }), { name: 'x' });
});

test('names an unknown field at any depth', () => {
	assert.deepEqual(complaint(assistant, { name: 'a', nmae: 'b' }), ['/nmae', 'is not a known field']);
	assert.deepEqual(complaint(assistant, { name: 'a', rag_settings: { topk: 5 } }), [
		'/rag_settings/topk',
		'is not a known field',
	]);
	assert.deepEqual(complaint(assistant, { name: 'a', id: 'asst_1' }), ['/id', 'is not a known field']);
	assert.deepEqual(complaint(conversations, { stauts: 'active' }), ['/stauts', 'is not a known query parameter']);
});

test('gives the path of an error as a JSON Pointer, with escapes', () => {
	assert.deepEqual(complaint(assistant, { name: 'a', 'x/y~z': 1 }), ['/x~1y~0z', 'is not a known field']);
	assert.deepEqual(complaint(assistant, { name: 'a', rag_settings: { top_k: 51 } }), [
		'/rag_settings/top_k',
		'must be 50 or less',
	]);
	assert.deepEqual(complaint(deployment, { assistant_id: 'asst_1', allowed_domains: ['a.example', 7] }), [
		'/allowed_domains/1',
		'must be a string',
	]);
	assert.deepEqual(complaint(deployment, { assistant_id: 'a', appearance: { suggested_questions: ['', 'b'] } }), [
		'/appearance/suggested_questions/0',
		'must not be empty',
	]);
});

test('names missing fields and allowed values', () => {
	assert.deepEqual(complaint(assistant, {}), ['/name', 'is required']);
	assert.deepEqual(complaint(deployment, { assistant_id: 'a', appearance: { theme: 'blue' } }), [
		'/appearance/theme',
		'must be one of light, dark, auto',
	]);
	for (const value of [null, [], 'x', 7, true]) {
		assert.deepEqual(complaint(assistant, value), ['', 'must be an object']);
	}
});

test('lists all errors of a value, at most twenty', () => {
	const value = { nmae: 'a', description: 7, rag_settings: { top_k: 0, min_score: '1' }, 'x/y': 1 };
	assert.deepEqual(complaints(assistant, value).sort(), [
		['/description', 'must be a string or null'],
		['/name', 'is required'],
		['/nmae', 'is not a known field'],
		['/rag_settings/min_score', 'must be a number'],
		['/rag_settings/top_k', 'must be 1 or more'],
		['/x~1y', 'is not a known field'],
	]);
	assert.deepEqual(complaints(conversations, { limit: '0', order: 'up' }).sort(), [
		['/limit', 'must be 1 or more'],
		['/order', 'must be one of asc, desc'],
	]);
	const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, at]));
	assert.equal(complaints(assistant, { name: 'a', ...many }).length, 20);
});

test('does not search a very large value for all errors', () => {
	const allowed_domains = Array.from({ length: 100_000 }, () => 7);
	const [first, ...others] = complaints(deployment, { assistant_id: 'asst_1', allowed_domains });
	assert.deepEqual([first?.[0], others], ['/allowed_domains', []]);
});

test('reports the errors of the chosen variant, or the variants if none is chosen', () => {
	const tool = bodyValidator(ToolCreate);
	assert.deepEqual(complaint(tool, { name: 'a' }), ['/type', 'is required']);
	for (const type of ['ftp', 7, null]) {
		assert.deepEqual(complaint(tool, { name: 'a', type, config: {} }), ['/type', 'must be one of api, mcp']);
	}
	assert.deepEqual(
		complaints(tool, { name: 'a b', type: 'mcp', config: { url: 'https://a b', headers: { a: 1 } } }).sort(),
		[
			['/config/headers/a', 'must be a string'],
			['/config/url', 'must be a URL without spaces and control characters'],
			['/name', 'must be 1 to 64 characters: letters from a to z, digits, "_" and "-"'],
		],
	);
});

test('keeps the types of a body: text is not a number, null is not absent', () => {
	const patch = bodyValidator(AssistantPatch);
	for (const top_k of ['5', 5.5, true, null, [5], 0, 51, Number.NaN, Number.POSITIVE_INFINITY]) {
		assert.equal(complaint(assistant, { name: 'a', rag_settings: { top_k } })[0], '/rag_settings/top_k');
	}
	for (const name of [null, '', 7, 'x'.repeat(201)]) {
		assert.equal(complaint(patch, { name })[0], '/name');
	}
	assert.deepEqual(patch({ description: null }), { description: null });
	assert.equal(complaint(patch, { rag_settings: null })[0], '/rag_settings');
});

test('counts lengths in characters, not in UTF-16 units', () => {
	assert.ok(assistant({ name: '👋'.repeat(200) }));
	assert.equal(complaint(assistant, { name: '👋'.repeat(201) })[0], '/name');
});

test('parses numbers from a query', () => {
	assert.deepEqual(conversations({ limit: '5', status: 'active', end_user_id: '7' }), {
		limit: 5,
		status: 'active',
		end_user_id: '7',
	});
	for (const limit of ['', ' ', 'abc', '0', '101', '5.5', '-1', '5,6', '٥', 'NaN', 'true', 'null']) {
		assert.equal(complaint(conversations, { limit })[0], '/limit', JSON.stringify(limit));
	}
	assert.deepEqual(complaint(conversations, { order: 'up' }), ['/order', 'must be one of asc, desc']);
	assert.equal(complaint(conversations, { cursor: 'x'.repeat(1_001) })[0], '/cursor');
});

test('accepts a time in a query only with an existing date, a time and a zone', () => {
	for (const created_after of ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.123+01:00']) {
		conversations({ created_after });
	}
	for (const created_after of [
		'',
		'yesterday',
		'2026-11-20',
		'2026-11-20T12:00:00',
		'2026-02-30T12:00:00Z',
		'2026-11-20T25:00:00Z',
		'2016-12-31T23:59:60Z',
		'1763640000000',
	]) {
		assert.equal(complaint(conversations, { created_after })[0], '/created_after', created_after);
	}
});

test('treats a field called __proto__ as unknown and changes no prototype', () => {
	assert.deepEqual(complaint(assistant, JSON.parse('{"name": "a", "__proto__": {"name": "b"}}')), [
		'/__proto__',
		'is not a known field',
	]);
	assert.deepEqual(complaint(assistant, JSON.parse('{"name": "a", "rag_settings": {"__proto__": {"top_k": 1}}}')), [
		'/rag_settings/__proto__',
		'is not a known field',
	]);
	for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
		assert.deepEqual(complaint(assistant, { name: 'a', [name]: 1 }), [`/${name}`, 'is not a known field']);
	}
});

test('accepts any name in free-form metadata and keeps it as data', () => {
	const body = JSON.parse('{"deployment_id": "dep_1", "content": "Hi", "metadata": {"__proto__": {"admin": true}}}');
	const checked = bodyValidator(SendMessage)(body);
	assert.equal((checked.metadata as { admin?: boolean }).admin, undefined);
	assert.equal(JSON.stringify(checked.metadata), '{"__proto__":{"admin":true}}');
	assert.equal(({} as { admin?: boolean }).admin, undefined);
	for (const metadata of [null, [], 'x', 7]) {
		assert.equal(
			complaint(bodyValidator(SendMessage), { deployment_id: 'dep_1', content: 'Hi', metadata })[0],
			'/metadata',
		);
	}
});

test('accepts any generated input of any operation unchanged, or rejects it with a path and a reason', () => {
	const checks = Object.values<Operation>(operations).flatMap(({ body }) => (body ? [bodyValidator(body)] : []));
	const fields = fc.constantFrom(
		'name',
		'content',
		'deployment_id',
		'rag_settings',
		'top_k',
		'title',
		'url',
		'__proto__',
	);
	const value = fc.oneof(fc.jsonValue(), fc.dictionary(fields, fc.jsonValue({ maxDepth: 2 })));
	fc.assert(
		fc.property(fc.constantFrom(...checks), value, (check, sent) => {
			const before = JSON.stringify(sent);
			try {
				assert.equal(check(sent), sent);
			} catch (error) {
				assert.ok(error instanceof AppError && error.code === 'invalid_request', String(error));
				assert.ok((error.details?.length ?? 0) > 0);
			}
			assert.equal(JSON.stringify(sent), before);
		}),
		{ numRuns: 1_000 },
	);
});

test('has a valid JSON Schema that compiles for every request and setting', () => {
	// The server compiles each schema at its first use, without validating it.
	const standard = new Ajv({ strict: true, allowUnionTypes: true, discriminator: true });
	const all: Operation[] = Object.values(operations);
	for (const { method, path, query, body } of all) {
		for (const [schema, check] of [
			[query, query && queryValidator(query)],
			[body, body && bodyValidator(body)],
		] as const) {
			if (schema === undefined || check === undefined) continue;
			assert.ok(standard.validateSchema(schema), `${method} ${path}: ${standard.errorsText()}`);
			try {
				check({});
			} catch (error) {
				assert.ok(error instanceof AppError, `${method} ${path}: ${error}`);
			}
		}
	}
	assert.ok(standard.validateSchema(SettingsSchema), standard.errorsText());
});
