import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, ERROR_CODES, type ErrorCode, messageOf, timestamp, timestampOrNull } from '../../src/base/index.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

test('every code has a status that the API uses and its own sentence', () => {
	const statuses = new Set([400, 401, 403, 404, 405, 412, 413, 429, 500, 503]);
	for (const code of codes) {
		const { status, message } = new AppError(code);
		assert.match(code, /^[a-z_]+$/);
		assert.ok(statuses.has(status), `${code}: ${status}`);
		assert.match(message, /^[A-Z].*\.$/);
	}
	assert.equal(new Set(codes.map((code) => new AppError(code).message)).size, codes.length);
});

test('an error has the given fields and keeps its cause', () => {
	const cause = new Error('disk');
	const error = new AppError('unavailable', 'Not now.', {
		retry_after: 3,
		details: [{ path: '/a', message: 'is odd' }],
		cause,
	});
	assert.ok(error instanceof Error);
	assert.equal(error.status, 503);
	assert.equal(error.message, 'Not now.');
	assert.equal(error.retry_after, 3);
	assert.deepEqual(error.details, [{ path: '/a', message: 'is odd' }]);
	assert.equal(error.cause, cause);
});

test('any thrown value has a message', () => {
	assert.equal(messageOf(new Error('disk')), 'disk');
	assert.equal(messageOf('disk'), 'disk');
	assert.equal(messageOf(undefined), 'undefined');
	assert.equal(messageOf(null), 'null');
});

test('times are shown in UTC with milliseconds', () => {
	assert.equal(timestamp(Date.UTC(2026, 10, 20, 12)), '2026-11-20T12:00:00.000Z');
	assert.equal(timestampOrNull(0), '1970-01-01T00:00:00.000Z');
	assert.equal(timestampOrNull(null), null);
});
