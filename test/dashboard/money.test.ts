import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount, formatMoney, parseAmount } from '../../src/dashboard/languages/money.ts';

/** Intl separates the currency by a space that does not break. */
const plain = (text: string) => text.replace(/\s/g, ' ');

test('an amount is written by the locale and the currency, and a small one with two digits that count', () => {
	const inEnglish = (micros: number, currency = 'USD') => plain(formatMoney(micros, currency, 'en-US'));
	assert.equal(inEnglish(0), '$0.00');
	assert.equal(inEnglish(1_234_567_891), '$1,234.57');
	assert.equal(inEnglish(400_000), '$0.40');
	assert.equal(inEnglish(36_120), '$0.036');
	assert.equal(inEnglish(123), '$0.00012');
	assert.equal(inEnglish(1), '$0.000001');
	assert.equal(inEnglish(1_500_000, 'JPY'), '¥2');
	assert.equal(inEnglish(500_000, 'JPY'), '¥0.50');
	assert.equal(plain(formatMoney(1_234_567_891, 'EUR', 'de-DE')), '1.234,57 €');
	assert.equal(plain(formatMoney(36_120, 'EUR', 'de-DE')), '0,036 €');
});

test('an amount is read with the separators of the locale, and with a point in German', () => {
	const cases: [text: string, locale: string, micros: number | null][] = [
		['12.50', 'en-GB', 12_500_000],
		['1,000.50', 'en-GB', 1_000_500_000],
		['12,50', 'en-GB', 12_500_000],
		[' 1,000 ', 'en-GB', 1_000_000_000],
		['12,50', 'de-DE', 12_500_000],
		['12.50', 'de-DE', 12_500_000],
		['1.000', 'de-DE', 1_000_000_000],
		['1.234.567,5', 'de-DE', 1_234_567_500_000],
		['1’000.50', 'de-CH', 1_000_500_000],
		['1 000,50', 'fr-FR', 1_000_500_000],
		['12.', 'en-GB', 12_000_000],
		['0.000001', 'en-GB', 1],
		['0', 'de-DE', 0],
		['', 'en-GB', null],
		['-1', 'en-GB', null],
		['ten', 'en-GB', null],
		['1.2.3', 'en-GB', null],
		['1000000001', 'en-GB', null],
	];
	for (const [text, locale, micros] of cases) assert.equal(parseAmount(text, locale), micros, `${text} in ${locale}`);
});

test('an amount in a field is read as what it shows', () => {
	for (const locale of ['en-GB', 'de-DE', 'de-CH', 'fr-FR']) {
		for (const micros of [0, 1, 12_500_000, 1_000_000_000, 1_234_567_123_456, 999_999_999_999_999]) {
			assert.equal(parseAmount(formatAmount(micros, 'EUR', locale), locale), micros, `${micros} in ${locale}`);
		}
	}
	assert.equal(formatAmount(12_500_000, 'USD', 'en-GB'), '12.50');
	assert.equal(formatAmount(1_234_000_000, 'JPY', 'de-DE'), '1.234');
});
