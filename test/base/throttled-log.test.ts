import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { ThrottledLog } from '../../src/base/index.ts';

test('the first error of each cause is logged at once, further ones once a minute with their number', () => {
	const lines: Array<Record<string, unknown>> = [];
	const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
	let now = 1_000;
	const repeated = new ThrottledLog(log, () => now);
	const fail = (cause: string, message: string) => repeated.error(cause, { cause, about: message }, 'it failed');
	const logged = () => lines.splice(0).map(({ cause, about, count, msg }) => [cause, about, count, msg]);

	fail('no table', 'first');
	fail('no thread', 'other');
	assert.deepEqual(logged(), [
		['no table', 'first', 1, 'it failed'],
		['no thread', 'other', 1, 'it failed'],
	]);
	now += 59_999;
	for (let at = 0; at < 500; at++) fail('no table', 'again');
	assert.deepEqual(logged(), []);
	now += 1;
	fail('no table', 'last');
	fail('no table', 'after');
	assert.deepEqual(logged(), [['no table', 'last', 501, 'it failed']]);
	now += 60_000;
	fail('no thread', 'later');
	assert.deepEqual(logged(), [['no thread', 'later', 1, 'it failed']]);
});

test('limits the causes kept in memory', () => {
	let lines = 0;
	const log = pino({ level: 'error' }, { write: () => void lines++ });
	const repeated = new ThrottledLog(log, () => 0);
	for (let at = 0; at < 300; at++) repeated.error(`cause ${at}`, {}, 'it failed');
	repeated.error('cause 299', {}, 'it failed');
	repeated.error('cause 0', {}, 'it failed');
	assert.equal(lines, 301);
});
