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

test('equal bytes have equal tags, others have others', () => {
	assert.match(etagOf('a'), /^"[\w-]{27}"$/);
	assert.equal(etagOf('ü'), etagOf(Buffer.from('ü')));
	assert.notEqual(etagOf('a'), etagOf('b'));
	assert.equal(versionEtag(7), '"7"');
});

test('a copy that is still good is a 304, in a list, weak or for whatever there is', () => {
	const headers = [['etag', '"a"']] as const;
	for (const value of ['"a"', '*', ' "x", W/"a" ', '"x" ,, "a"', 'W/"a"']) {
		assert.deepEqual(notModified(value, '"a"', headers), { status: 304, headers }, value);
	}
	for (const value of [undefined, '"b"', '"A"', 'a', '', '"a', 'W/"b", "c"', '"a" "b']) {
		assert.equal(notModified(value, '"a"', headers), null, String(value));
	}
	assert.equal(matchesEtag('"a"', 'W/"a"'), true);
});

test('If-Match is held against the current version by strong comparison', () => {
	for (const value of [undefined, '*', '"2"', '"1", "2"'])
		assert.doesNotThrow(() => requireVersion({ version: 2 }, ifMatchVersions(value)));
	for (const value of ['"1"', 'W/"2"', '"1", W/"2"', '""']) {
		assert.throws(() => requireVersion({ version: 2 }, ifMatchVersions(value)), code('precondition_failed'), value);
	}
	for (const value of ['', '2', '"2', '"2" x', ', ']) {
		assert.throws(() => requireVersion({ version: 2 }, ifMatchVersions(value)), code('invalid_request'), value);
	}
});

test('tags may hold commas and anything but quotes', () => {
	assert.deepEqual(parseEntityTags('"a,b", W/"c d"'.replace(' d', '_d')), [
		{ weak: false, tag: '"a,b"' },
		{ weak: true, tag: '"c_d"' },
	]);
});
