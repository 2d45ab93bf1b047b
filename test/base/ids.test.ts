import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ID_PREFIXES, IdGenerator, type IdKind, isId, newId, timeOfId } from '../../src/base/index.ts';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The number that an id's 32 characters of 5 bits hold. */
function numberIn(id: string): bigint {
	let value = 0n;
	for (const character of id.slice(id.indexOf('_') + 1)) value = (value << 5n) | BigInt(ALPHABET.indexOf(character));
	return value;
}

test('an id is the prefix of its kind and 32 characters that can be read aloud', () => {
	for (const kind of kinds) {
		const id = newId(kind);
		assert.match(id, new RegExp(`^${ID_PREFIXES[kind]}[0-9a-hjkmnp-tv-z]{32}$`));
		assert.ok(isId(kind, id));
		for (const other of kinds) if (other !== kind) assert.equal(isId(other, id), false, `${id} is no ${other}`);
	}
});

test('no two kinds share a prefix', () => {
	assert.equal(new Set(Object.values(ID_PREFIXES)).size, kinds.length);
});

test('an id begins with its time of creation', () => {
	const before = Date.now();
	const made = Number(numberIn(newId('message')) >> 112n);
	assert.ok(made >= before && made <= Date.now() + 1, `${made} is not about ${before}`);
	for (const moment of [Date.UTC(2099, 0, 1, 1, 2, 3, 4), Date.UTC(2099, 0, 1, 1, 2, 3, 7), 2 ** 48 - 1]) {
		assert.equal(timeOfId(new IdGenerator().next('job', moment)), moment);
	}
});

test('200,000 ids are all different, also in their random half, and sort in order of creation', () => {
	const ids = Array.from({ length: 200_000 }, () => newId('message'));
	assert.equal(new Set(ids).size, ids.length);
	assert.equal(new Set(ids.map((id) => id.slice(-19))).size, ids.length);
	assert.deepEqual(ids.toSorted(), ids);
});

test('ids of one millisecond keep their order beyond the 65,536 that its counter holds', () => {
	const now = Date.now() + 60_000;
	const ids = Array.from({ length: 70_000 }, () => newId('event', now));
	assert.deepEqual(ids.toSorted(), ids);
	assert.equal(new Set(ids).size, ids.length);
});

test('ids sort in order of creation however the clock jumps', () => {
	fc.assert(
		fc.property(fc.array(fc.integer({ min: -100_000, max: 1_000 }), { minLength: 2, maxLength: 50 }), (jumps) => {
			let now = Date.now();
			const ids = jumps.map((jump) => {
				now += jump;
				return newId('job', now);
			});
			assert.deepEqual(ids.toSorted(), ids);
			assert.equal(new Set(ids).size, ids.length);
		}),
	);
});

test('a text without the form of an id names nothing', () => {
	const body = newId('assistant').slice('asst_'.length);
	const malformed = [
		'',
		'asst_',
		body,
		`asst_${body.slice(1)}`,
		`asst_${body}0`,
		`asst_${body}\n`,
		` asst_${body}`,
		`ASST_${body}`,
		`asst_${body.slice(1).toUpperCase()}A`,
		`asst-${body}`,
		`kb_${body}`,
		...['i', 'l', 'o', 'u', '-', '_', '/', '%', 'é', '\0'].map((character) => `asst_${character}${body.slice(1)}`),
	];
	for (const text of malformed) assert.equal(isId('assistant', text), false, JSON.stringify(text));
});
