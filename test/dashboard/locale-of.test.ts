import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localeOf } from '../../src/dashboard/languages/locale-of.ts';

test('numbers and dates follow the first locale of the browser that has the language of the dashboard', () => {
	assert.equal(localeOf('en', ['de-CH', 'en-GB', 'en-US']), 'en-GB');
	assert.equal(localeOf('de', ['de-CH', 'en-GB']), 'de-CH');
	assert.equal(localeOf('de', ['en-GB']), 'de');
});
