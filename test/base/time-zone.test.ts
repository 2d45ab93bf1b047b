import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone } from '../../src/base/index.ts';

test('accepts a time zone with the capitals of the database only', () => {
	for (const zone of ['UTC', 'Etc/UTC', 'Europe/London', 'Asia/Kolkata', 'US/Eastern', 'America/Port_of_Spain'])
		assert.ok(isTimeZone(zone), zone);
	for (const zone of [
		'utc',
		'europe/london',
		'EUROPE/LONDON',
		'asia/kolkata',
		'Asia/kolkata',
		'US/eastern',
		'Mars/Olympus',
		'+01:00',
		'',
	])
		assert.ok(!isTimeZone(zone), zone);
});
