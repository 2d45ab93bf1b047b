import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyMergePatch, mergedFields } from '../../src/base/index.ts';

const record = {
	name: 'Support',
	description: 'old' as string | null,
	settings: { top_k: 5, min_score: 0.2 },
	tags: ['a', 'b'],
	nested: { inner: { left: 1, right: 2 }, other: 3 },
};

test('a patch of nothing changes nothing', () => {
	assert.deepEqual(mergedFields(record, {}), {});
	assert.deepEqual(mergedFields(record, { name: undefined }), {});
});

test('scalars and arrays are replaced, null clears', () => {
	assert.deepEqual(mergedFields(record, { name: 'Sales', tags: ['c'], description: null }), {
		name: 'Sales',
		tags: ['c'],
		description: null,
	});
});

test('objects are merged member by member, at any depth', () => {
	assert.deepEqual(mergedFields(record, { settings: { top_k: 9 } }), { settings: { top_k: 9, min_score: 0.2 } });
	assert.deepEqual(mergedFields(record, { nested: { inner: { left: 7 } } }), {
		nested: { inner: { left: 7, right: 2 }, other: 3 },
	});
});

test('an object replaces a value that is not an object', () => {
	assert.deepEqual(mergedFields({ jwt: null, list: [1] }, { jwt: { algorithm: 'HS256' }, list: { a: 1 } }), {
		jwt: { algorithm: 'HS256' },
		list: { a: 1 },
	});
});

test('neither the record nor the patch is changed', () => {
	const before = structuredClone(record);
	const patch = { settings: { top_k: 9 }, nested: { inner: { left: 7 } } };
	const set = mergedFields(record, patch) as typeof record;
	set.settings.top_k = 100;
	set.nested.inner.right = 100;
	assert.deepEqual(record, before);
	assert.deepEqual(patch, { settings: { top_k: 9 }, nested: { inner: { left: 7 } } });
});

test('a member called __proto__ stays data and becomes no prototype', () => {
	const set = mergedFields({}, JSON.parse('{"__proto__": {"admin": true}, "meta": {"__proto__": {"admin": true}}}'));
	assert.equal(Object.getPrototypeOf(set), Object.prototype);
	assert.equal((set as { admin?: boolean }).admin, undefined);
	assert.equal(({} as { admin?: boolean }).admin, undefined);
	assert.equal(JSON.stringify(set), '{"__proto__":{"admin":true},"meta":{"__proto__":{"admin":true}}}');
});

test('a free-form object is patched as in the examples of RFC 7396 that have objects on both sides', () => {
	for (const [target, patch, result] of [
		[{ a: 'b' }, { a: 'c' }, { a: 'c' }],
		[{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
		[{ a: 'b' }, { a: null }, {}],
		[{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
		[{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
		[{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
		[{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
		[{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
		[{ e: null }, { a: 1 }, { e: null, a: 1 }],
		[{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
	] as const) {
		assert.deepEqual(applyMergePatch(target, patch), result, JSON.stringify([target, patch]));
	}
});

test('a patch of a free-form object does not change the original, and a member called __proto__ stays data', () => {
	const target = { a: { b: 1 } };
	const patch = JSON.parse('{"__proto__": {"polluted": true}, "a": {"b": null}}');
	const patched = applyMergePatch(target, patch);
	assert.deepEqual(target, { a: { b: 1 } });
	assert.deepEqual(Object.entries(patched), [
		['a', {}],
		['__proto__', { polluted: true }],
	]);
	assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
