import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseLanguage, directionOf } from '../../src/widget/languages/choose.ts';
import { strings as english } from '../../src/widget/languages/en.ts';
import { brandColours, contrastOf } from '../../src/widget/text/colours.ts';
import { backoff } from '../../src/widget/transport/backoff.ts';

/** What text stands on, in the light and in the dark: the chat, and its replies. */
const GROUNDS = [
	['#ffffff', '#f3f4f7'],
	['#1b1c22', '#282a33'],
] as const;

test('with any brand colour, text has a contrast of 4.5 and other parts of 3', () => {
	const colour = fc.integer({ min: 0, max: 0xffffff }).map((number) => `#${number.toString(16).padStart(6, '0')}`);
	fc.assert(
		fc.property(colour, fc.constantFrom(...GROUNDS), (brand, [surface, raised]) => {
			const { onBrand, accent, edge } = brandColours(brand, surface, raised);
			assert.ok(contrastOf(onBrand, brand) >= 4.5);
			assert.ok(contrastOf(accent, surface) >= 4.5);
			assert.ok(contrastOf(accent, raised) >= 4.5, `${brand} makes ${accent} on ${raised}`);
			assert.ok(contrastOf(edge, surface) >= 3);
		}),
		{ numRuns: 2_000 },
	);
	// A readable brand colour is used unchanged.
	assert.equal(brandColours('#4f46e5', ...GROUNDS[0]).accent, '#4f46e5');
	assert.equal(brandColours('#abc', ...GROUNDS[0]).brand, '#aabbcc');
});

test('chooses the first available language of the browser, without regard to region', () => {
	assert.equal(chooseLanguage([undefined, 'sv-SE', 'pt-BR', 'en']), 'pt');
	assert.equal(chooseLanguage(['DE_at']), 'de');
	assert.equal(chooseLanguage(['xx', 'toString', '']), 'en');
	assert.equal(directionOf(chooseLanguage(['ar-EG'])), 'rtl');
});

test('every language has every text, with the same placeholders', async () => {
	for (const language of ['de', 'fr', 'es', 'nl', 'pt', 'ja', 'ar']) {
		const { strings } = await import(`../../src/widget/languages/${language}.ts`);
		assert.deepEqual(Object.keys(strings), Object.keys(english), language);
		for (const [name, text] of Object.entries(english)) {
			assert.notEqual(strings[name].trim(), '');
			assert.equal(strings[name].includes('{n}'), text.includes('{n}'), `${language} ${name}`);
		}
	}
});

test('retry delays grow and are randomised', () => {
	assert.deepEqual(
		[0, 1, 2, 9].map((attempt) => backoff(attempt, () => 1)),
		[500, 1000, 2000, 20_000],
	);
	assert.equal(
		backoff(2, () => 0),
		1000,
	);
});
