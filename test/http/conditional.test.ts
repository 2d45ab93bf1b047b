import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import {
	etagOf,
	ifMatchVersions,
	matchesEtag,
	notModified,
	parseEntityTags,
	versionEtag,
} from '../../src/http/index.ts';
import { requireVersion } from '../../src/store/index.ts';

const code = (expected: string) => (error: unknown) => error instanceof AppError && error.code === expected;

test('gives equal bytes equal tags, and different bytes different tags', () => {
	assert.match(etagOf('a'), /^"[\w-]{27}"$/);
	assert.equal(etagOf('ü'), etagOf(Buffer.from('ü')));
	assert.notEqual(etagOf('a'), etagOf('b'));
	assert.equal(versionEtag(7), '"7"');
});

test('answers 304 for a current copy: in a list, as a weak tag, or as *', () => {
	const headers = [['etag', '"a"']] as const;
	for (const value of ['"a"', '*', ' "x", W/"a" ', '"x" ,, "a"', 'W/"a"']) {
		assert.deepEqual(notModified(value, '"a"', headers), { status: 304, headers }, value);
	}
	for (const value of [undefined, '"b"', '"A"', 'a', '', '"a', 'W/"b", "c"', '"a" "b']) {
		assert.equal(notModified(value, '"a"', headers), null, String(value));
	}
	assert.equal(matchesEtag('"a"', 'W/"a"'), true);
});

test('compares If-Match with the current version by strong comparison', () => {
	for (const value of [undefined, '*', '"2"', '"1", "2"'])
		assert.doesNotThrow(() => requireVersion({ version: 2 }, ifMatchVersions(value)));
	for (const value of ['"1"', 'W/"2"', '"1", W/"2"', '""']) {
		assert.throws(() => requireVersion({ version: 2 }, ifMatchVersions(value)), code('precondition_failed'), value);
	}
	for (const value of ['', '2', '"2', '"2" x', ', ']) {
		assert.throws(() => requireVersion({ version: 2 }, ifMatchVersions(value)), code('invalid_request'), value);
	}
});

test('accepts tags with commas and any other character except quotes', () => {
	assert.deepEqual(parseEntityTags('"a,b", W/"c d"'.replace(' d', '_d')), [
		{ weak: false, tag: '"a,b"' },
		{ weak: true, tag: '"c_d"' },
	]);
});
