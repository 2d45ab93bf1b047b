import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bodyValidator, DeploymentPatch } from '../../src/contract/index.ts';
import { isAppearance, lookOf, SHOW } from '../../src/widget/preview/look.ts';
import { DEFAULT_APPEARANCE } from '../support/default-appearance.ts';

const validate = bodyValidator(DeploymentPatch);

/** Whether the API would store an appearance. */
function isStorable(appearance: unknown): boolean {
	try {
		validate({ appearance });
		return true;
	} catch {
		return false;
	}
}

const appearance = { ...DEFAULT_APPEARANCE, greeting: 'Hello\nthere' };
const message = {
	type: SHOW,
	appearance,
	features: { streaming: true, rich_content: false, ai_disclosure: true, handoff: false },
	scheme: 'dark',
	language: 'de',
};

test('takes a whole look, and nothing with a member too few, too many or of another kind', () => {
	assert.deepEqual(lookOf(message), message);
	assert.deepEqual(lookOf({ ...message, language: null })?.language, null);
	for (const wrong of [
		null,
		'parley:preview-show',
		[message],
		{ ...message, type: 'parley:preview-ready' },
		{ ...message, html: '<img>' },
		{ ...message, scheme: 'sepia' },
		{ ...message, language: '../x' },
		{ ...message, features: { ...message.features, jwt_required: true } },
		{ ...message, features: { ...message.features, streaming: 'yes' } },
		{ ...message, appearance: { ...appearance, onload: 'alert(1)' } },
		{ ...message, appearance: { ...appearance, logo_url: 'javascript:alert(1)' } },
		{ ...message, appearance: Object.fromEntries(Object.entries(appearance).slice(1)) },
		Object.create(message),
	]) {
		assert.equal(lookOf(wrong), null, JSON.stringify(wrong));
	}
});

test('takes exactly the values of an appearance that the API stores', () => {
	const texts = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 90 }),
		fc.constantFrom(
			'',
			' ',
			'\n',
			'a\tb',
			'a\r\nb',
			'\u2028',
			'\u0085',
			'x'.repeat(81),
			'😀'.repeat(80),
			'😀'.repeat(81),
		),
	);
	const urls = fc.constantFrom(
		'https://a.example/x',
		'http://a.example',
		'https://',
		'https://a b',
		'ftp://a.example',
		'',
	);
	const colours = fc.constantFrom('#abc', '#ABCDEF', '#abcd', 'red', '#12345g', '#abc\n');
	const value = fc.oneof(
		texts,
		urls,
		colours,
		fc.constantFrom(null, true, 1, [], ['Why?'], Array(11).fill('Why?'), [' '], {}),
	);
	const field = fc.constantFrom(...Object.keys(appearance));
	fc.assert(
		fc.property(field, value, (name, changed) => {
			const changedAppearance = { ...appearance, [name]: changed };
			assert.equal(
				isAppearance(changedAppearance),
				isStorable(changedAppearance),
				`${name}: ${JSON.stringify(changed)}`,
			);
		}),
		{ numRuns: 1_000 },
	);
});
