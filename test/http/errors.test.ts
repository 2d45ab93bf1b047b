import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { AppError, type Log } from '../../src/base/index.ts';
import { errorResponse } from '../../src/http/index.ts';

function logging(): { log: Log; lines: Array<Record<string, unknown>> } {
	const lines: Array<Record<string, unknown>> = [];
	return { log: pino<never>({}, { write: (line: string) => void lines.push(JSON.parse(line)) }), lines };
}

test('turns an AppError into the envelope, with only the members that it has', () => {
	const { log, lines } = logging();
	const response = errorResponse(new AppError('not_found'), 'req_1', log);
	assert.equal(response.status, 404);
	assert.equal(
		response.body,
		'{"error":{"code":"not_found","message":"The resource does not exist.","request_id":"req_1"}}',
	);
	assert.deepEqual(response.headers, [
		['content-type', 'application/json; charset=utf-8'],
		['cache-control', 'no-store'],
	]);
	assert.equal(lines.length, 0, 'client errors are not logged');
});

test('sends WWW-Authenticate with a 401, and Retry-After with a retry time', () => {
	const { log } = logging();
	const missing = new Map(errorResponse(new AppError('unauthorized'), 'req_1', log).headers);
	assert.equal(missing.get('www-authenticate'), 'Bearer');
	const busy = errorResponse(new AppError('unavailable', 'Later.', { retry_after: 3 }), 'req_1', log);
	assert.equal(new Map(busy.headers).get('retry-after'), '3');
	assert.equal(JSON.parse(busy.body as string).error.retry_after, 3);
});

test('logs any other error with its cause and responds without it', () => {
	const { log, lines } = logging();
	const response = errorResponse(new Error('the table is gone'), 'req_2', log);
	assert.equal(response.status, 500);
	assert.ok(!(response.body as string).includes('table'));
	assert.equal(lines.length, 1);
	assert.equal(lines[0]?.request_id, 'req_2');
	assert.match(JSON.stringify(lines[0]?.err), /the table is gone/);
});
