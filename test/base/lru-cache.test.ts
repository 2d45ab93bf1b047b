import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LruCache } from '../../src/base/index.ts';

test('evicts the least recently used entry when full', () => {
	const lru = new LruCache<string, number>(2);
	lru.set('a', 1);
	lru.set('b', 2);
	assert.equal(lru.get('a'), 1);
	lru.set('c', 3);
	assert.equal(lru.get('b'), undefined);
	assert.equal(lru.get('a'), 1);
	assert.equal(lru.get('c'), 3);
});

test('setting a key again counts as a use and adds no second entry', () => {
	const lru = new LruCache<string, number>(2);
	lru.set('a', 1);
	lru.set('b', 2);
	lru.set('a', 10);
	assert.equal(lru.size, 2);
	lru.set('c', 3);
	assert.equal(lru.get('a'), 10);
	assert.equal(lru.get('b'), undefined);
});

test('keeps falsy values like any other', () => {
	const lru = new LruCache<string, number | string | boolean | null>(4);
	for (const value of [0, '', false, null]) {
		lru.set('a', value);
		assert.equal(lru.get('a'), value);
	}
});

test('behaves like a list sorted by last use, and never exceeds its capacity', () => {
	const step = fc.record({
		op: fc.constantFrom('get', 'set', 'delete', 'forget'),
		key: fc.integer({ min: 0, max: 7 }),
	});
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
			const lru = new LruCache<number, number>(capacity);
			let model: Array<[number, number]> = [];
			for (const [index, { op, key }] of steps.entries()) {
				const entry = model.find(([known]) => known === key);
				const rest = model.filter(([known]) => known !== key);
				if (op === 'get') {
					assert.equal(lru.get(key), entry?.[1]);
					if (entry) model = [...rest, entry];
				} else if (op === 'set') {
					lru.set(key, index);
					model = [...rest, [key, index] as [number, number]].slice(-capacity);
				} else if (op === 'forget') {
					assert.equal(lru.evictOldest(), model[0]?.[1]);
					model = model.slice(1);
				} else {
					lru.delete(key);
					model = rest;
				}
				assert.equal(lru.size, model.length);
			}
		}),
	);
});
