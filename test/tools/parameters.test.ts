import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { compileParameters } from '../../src/tools/index.ts';

type Schema = Record<string, unknown>;

function assertRefused(schema: Schema, reason: RegExp): void {
	assert.throws(
		() => compileParameters(schema),
		(thrown) => {
			assert.ok(thrown instanceof AppError, String(thrown));
			assert.equal(thrown.code, 'invalid_request');
			assert.deepEqual(
				thrown.details?.map(({ path }) => path),
				['/config/parameters'],
			);
			assert.match(thrown.message, reason);
			return true;
		},
		JSON.stringify(schema).slice(0, 200),
	);
}

const object = (more: Schema): Schema => ({ type: 'object', ...more });

test('compiled parameters tell valid arguments from invalid ones', () => {
	const isRight = compileParameters(
		object({
			properties: { city: { type: 'string', minLength: 1 }, day: { type: 'string', format: 'date' } },
			required: ['city'],
			additionalProperties: false,
		}),
	);
	assert.equal(isRight({ city: 'Ulm', day: '2026-11-20' }), true);
	for (const wrong of [{}, { city: '' }, { city: 7 }, { city: 'Ulm', day: 'today' }, { city: 'Ulm', town: 'Ulm' }]) {
		assert.equal(isRight(wrong), false, JSON.stringify(wrong));
	}
});

test('supports both dialects with their own keywords', () => {
	const pair = { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] };
	const draft7 = compileParameters(
		object({ $schema: 'http://json-schema.org/draft-07/schema#', properties: { pair } }),
	);
	assert.deepEqual([draft7({ pair: ['a', 1] }), draft7({ pair: [1, 'a'] })], [true, false]);
	assertRefused(object({ properties: { pair } }), /not a valid JSON Schema: \/properties\/pair\/items/);

	const prefixItems = [{ type: 'string' }, { type: 'integer' }];
	const current = compileParameters(
		object({
			$schema: 'https://json-schema.org/draft/2020-12/schema',
			$id: 'https://example.com/pair',
			properties: { pair: { prefixItems } },
		}),
	);
	assert.deepEqual([current({ pair: ['a', 1] }), current({ pair: [1, 'a'] })], [true, false]);
	for (const $schema of ['http://json-schema.org/draft-04/schema#', 'https://example.com/mine', '', 7, null]) {
		assertRefused(object({ $schema }), /dialect/);
	}
});

test('accepts unknown keywords and formats in schemas', () => {
	const isRight = compileParameters(
		object({
			title: 'Arguments',
			'x-order': ['a'],
			properties: { a: { type: 'string', format: 'phone', example: '1' }, constructor: { const: 1 } },
		}),
	);
	assert.deepEqual([isRight({ a: 'x' }), isRight({ constructor: 2 })], [true, false]);
});

test('rejects a schema that does not describe an object, with the problem', () => {
	assertRefused({}, /"type": "object"/);
	assertRefused({ type: 'array' }, /"type": "object"/);
	assertRefused({ type: ['object', 'null'] }, /"type": "object"/);
	assertRefused(object({ properties: 5 }), /\/properties must be object/);
	assertRefused(object({ properties: { a: { type: 'strin' } } }), /\/properties\/a\/type must be equal to one of/);
	assertRefused(object({ required: ['a', 'a'] }), /\/required must NOT have duplicate items/);
	assertRefused(object({ properties: { a: { pattern: '(' } } }), /cannot be used: Invalid regular expression/);
});

test('follows references within the schema, and rejects others', () => {
	const isRight = compileParameters(
		object({
			properties: { from: { $ref: '#/$defs/a~1b%20c' }, to: { $ref: '#/$defs/a~1b%20c' } },
			$defs: { 'a/b c': object({ properties: { city: { type: 'string' } }, required: ['city'] }) },
		}),
	);
	assert.deepEqual([isRight({ from: { city: 'Ulm' } }), isRight({ from: {} })], [true, false]);
	const elsewhere = [
		'https://example.com/city.json',
		'city.json',
		'#city',
		'#/$defs/none',
		'#/type',
		'#/$defs/%',
		7,
		'',
	];
	for (const $ref of elsewhere) {
		assertRefused(object({ properties: { a: { $ref } }, $defs: {} }), /\$ref|not a valid JSON Schema/);
		assertRefused(object({ $defs: { unused: { $ref } } }), /\$ref|not a valid JSON Schema/);
	}
	for (const keyword of ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$async']) {
		const value = keyword === '$dynamicRef' ? '#a' : keyword === '$async' ? true : 'a';
		assertRefused(object({ properties: { a: { [keyword]: value } } }), /must not use \$/);
	}
	// Outside schemas it is a name like any other.
	compileParameters(object({ properties: { $ref: { type: 'string' }, $id: { enum: [{ $ref: 'https://x' }] } } }));
});

test('rejects a schema whose validation might not end', () => {
	assertRefused(object({ $ref: '#' }), /leads back/);
	assertRefused(object({ allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/a' } } }), /leads back/);
	assertRefused(object({ properties: { child: { $ref: '#' } } }), /leads back/);
	// Each schema refers to the next one twice, so a few lines expand to 2^40 schemas.
	const doubled = Array.from({ length: 40 }, (_, at) => {
		const next = { $ref: `#/$defs/d${at + 1}` };
		return [`d${at}`, { allOf: [next, next] }];
	});
	assertRefused(object({ $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(doubled), d40: {} } }), /more than 1000/);
});

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const members = (count: number, make: (at: number) => unknown): Schema =>
	Object.fromEntries(times(count, (at) => [`k${at}`, make(at)]));
const sizeOf = (schema: Schema): number => JSON.stringify(schema).length;

test('rejects a small schema that references expand beyond the limits', () => {
	const held: Schema[] = [
		{ dependentRequired: members(20, (at) => [`a${at}`, 'b']) },
		{ enum: times(200, (at) => `value ${at}`) },
		{ enum: times(20, (at) => ({ a: [at, { b: 'x'.repeat(90) }] })) },
		{ required: times(200, (at) => `name ${at}`) },
		{ const: 'x'.repeat(3_000) },
		{ pattern: `(${'ab?'.repeat(1_000)})` },
		{ patternProperties: members(20, () => true) },
		{ allOf: times(20, () => false) },
		{ maxLength: 9, minimum: 1, maxItems: 3, minProperties: 1, multipleOf: 2, uniqueItems: true, description: 'x' },
	];
	for (const e of held) {
		const leading = (count: number) =>
			object({ $defs: { e }, properties: members(count, () => ({ $ref: '#/$defs/e' })) });
		assert.ok(sizeOf(leading(240)) < 16_000);
		assertRefused(leading(240), /more than (1000 parts|65536 characters)/);
		assert.equal(compileParameters(leading(2))({}), true, JSON.stringify(e).slice(0, 80));
	}
});

test('bounds costly keywords also without references', () => {
	const long: Schema[] = [
		{ properties: members(1_000, () => ({})) },
		{ properties: members(1_000, () => true) },
		{ properties: members(400, () => ({ type: 'string', minLength: 1 })) },
		{ patternProperties: members(1_000, () => true), additionalProperties: false },
		{ allOf: times(400, (at) => ({ properties: { [`k${at}`]: true } })), unevaluatedProperties: false },
		{ oneOf: times(1_000, () => false) },
		{ dependentRequired: { a: times(300, (at) => `k${at}`) } },
		{ dependentRequired: members(300, () => ['a']) },
		{ dependencies: { a: times(300, (at) => `k${at}`) } },
		{ properties: { a: { pattern: `[${'\\p{L}'.repeat(300)}]` } } },
		{ patternProperties: { [`[${'\\P{L}'.repeat(300)}]`]: true } },
	];
	for (const schema of long) {
		assert.ok(sizeOf(object(schema)) < 32_768);
		assertRefused(object(schema), /more than 1000 parts/);
	}
	assertRefused(object({ properties: { a: { const: 'x'.repeat(66_000) } } }), /more than 65536 characters/);
});

test('accepts realistic parameter schemas', () => {
	const described = { type: 'string', description: 'What it is for, in a sentence or two.', examples: ['one'] };
	const enumeration = { enum: times(600, (at) => `Region/Place_${at}`), title: 'Time zone' };
	const isRight = compileParameters(
		object({
			properties: { ...members(300, () => described), zone: enumeration },
			required: times(300, (at) => `k${at}`),
			additionalProperties: false,
		}),
	);
	const whole = members(300, () => 'text');
	assert.equal(isRight(whole), true);
	assert.equal(isRight({ ...whole, zone: 'Region/Place_599' }), true);
	assert.equal(isRight({ ...whole, zone: 'Region/Place_600' }), false);
	assert.equal(isRight({ ...whole, k299: undefined }), false);
	assert.equal(isRight({ ...whole, k300: 'text' }), false);
	const isName = compileParameters(object({ properties: { name: { pattern: '^[\\p{L}\\p{M}][\\p{L}\\p{M} .-]*$' } } }));
	assert.deepEqual([isName({ name: 'Ödön' }), isName({ name: '7' })], [true, false]);
	const draft7 = compileParameters(
		object({
			$schema: 'http://json-schema.org/draft-07/schema#',
			properties: { pair: { enum: times(3_000, (at) => [at]) } },
		}),
	);
	assert.deepEqual([draft7({ pair: [2_999] }), draft7({ pair: [3_000] })], [true, false]);
});

test('counts the target of a reference among the evaluated properties', () => {
	const isRight = compileParameters(
		object({
			$defs: { place: { properties: { city: { type: 'string' } } }, time: { properties: { day: true } } },
			allOf: [{ $ref: '#/$defs/place' }, { anyOf: [{ $ref: '#/$defs/time' }, { required: ['never'] }] }],
			unevaluatedProperties: false,
		}),
	);
	assert.deepEqual(
		[{ city: 'Ulm', day: 1 }, { city: 7 }, { city: 'Ulm', town: 1 }].map((given) => isRight(given)),
		[true, false, false],
	);
});

test('ignores a keyword of another dialect with any value', () => {
	const $schema = 'http://json-schema.org/draft-07/schema#';
	for (const other of ['dependentSchemas', 'dependentRequired', '$defs', 'prefixItems', 'unevaluatedProperties']) {
		for (const value of [null, 7, 'x', [null], { a: null }]) {
			assert.equal(compileParameters(object({ $schema, [other]: value }))({ b: 1 }), true, other);
		}
	}
	compileParameters(object({ additionalItems: null }));
});
