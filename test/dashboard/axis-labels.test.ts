import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisLabels } from '../../src/dashboard/pages/overview/axis-labels.ts';

const DAY = 86_400;
const at = (time: string) => Date.parse(time) / 1_000;

test('days have the month of the language', () => {
	const splits = [at('2026-05-30T00:00:00Z'), at('2026-10-01T00:00:00Z'), at('2026-12-31T00:00:00Z')];
	assert.deepEqual(axisLabels('de', splits, DAY), ['30. Mai', '1. Okt.', '31. Dez.']);
	assert.deepEqual(axisLabels('en', splits, DAY), ['May 30', 'Oct 1', 'Dec 31']);
	assert.deepEqual(axisLabels('en-GB', splits, DAY), ['30 May', '1 Oct', '31 Dec']);
});

test('hours are those of the language in UTC, and midnight is the day that begins', () => {
	const splits = [at('2026-12-31T18:00:00Z'), at('2027-01-01T00:00:00Z'), at('2027-01-01T06:30:00Z')];
	assert.deepEqual(axisLabels('de', splits, 6 * 3_600), ['18:00', '1. Jan.', '06:30']);
	assert.deepEqual(
		axisLabels('en', splits, 6 * 3_600).map((label) => label.replace('\u202f', ' ')),
		['6:00 PM', 'Jan 1', '6:30 AM'],
	);
});
