import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPosition, parsePosition } from '../../src/outbox/index.ts';

test('parses the positions that it formats', () => {
	for (const position of [
		{ seq: 0, offset: 0 },
		{ seq: 17, offset: 4 },
		{ seq: 999_999_999_999_999, offset: 999_999_999_999_999 },
	]) {
		assert.deepEqual(parsePosition(formatPosition(position)), position);
	}
});

test('rejects malformed positions as a bad request', () => {
	for (const text of [
		'',
		'.',
		'1',
		'1.',
		'.1',
		'1.2.3',
		'-1.0',
		'1.-1',
		' 1.0',
		'1.0\n',
		'1e3.0',
		'x.y',
		'٣.١',
		`${'1'.repeat(16)}.0`,
	]) {
		assert.throws(() => parsePosition(text), { code: 'invalid_request' }, JSON.stringify(text));
	}
});
