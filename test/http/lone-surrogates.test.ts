import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasLoneSurrogate } from '../../src/http/lone-surrogates.ts';

/** The expected result, by checking each string of the parsed value. */
function holdsHalf(json: string): boolean {
	const strings: string[] = [];
	JSON.parse(json, (name, value) => {
		strings.push(name, String(value));
		return value;
	});
	return strings.some((text) => /\p{Surrogate}/u.test(text));
}

test('finds half of a surrogate pair at any position, and no half in a whole pair', () => {
	const cases: Array<[json: string, isLone: boolean]> = [
		['"\\ud800"', true],
		['"\\uDFFF"', true],
		['"a\\uDbFf"', true],
		['{"\\ud800":1}', true],
		['{"a":["","\\uDC00x"]}', true],
		['"\\udc00\\ud800"', true],
		['"\\ud83d\\ud83d\\ude42"', true],
		['"\\ud83d\\ude42\\ude42"', true],
		['["\\ud83d","\\ude42"]', true],
		['"\\ud83d \\ude42"', true],
		['"\\ud83d\\\\ude42"', true],
		['"\\ud83d\\u0041"', true],
		['"\\ud83d\\n"', true],
		['"\\\\\\ud83d"', true],
		['"\\ud83d\\ude42"', false],
		['"\\uD83D\\uDE42\\ud83d\\ude42"', false],
		['"\\\\ud83d"', false],
		['"\\\\\\\\ud83d"', false],
		['"\\ud7ff\\ue000\\u0d80"', false],
		['"🙂\\"\\u00e9"', false],
		['"ud83d"', false],
		['""', false],
		['7', false],
	];
	for (const [json, isLone] of cases) {
		assert.equal(holdsHalf(json), isLone, json);
		assert.equal(hasLoneSurrogate(json), isLone, json);
	}
});

test('gives the same result for the text as for the parsed value', () => {
	const chunk = fc.constantFrom(
		...[
			'\\ud83d',
			'\\uDBFF',
			'\\ude42',
			'\\uDC00',
			'\\u0041',
			'\\ud7fF',
			'\\\\',
			'\\"',
			'\\n',
			'ud83d',
			'a',
			'🙂',
			'", "',
		],
	);
	fc.assert(
		fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
			const json = `["${chunks.join('')}"]`;
			assert.equal(hasLoneSurrogate(json), holdsHalf(json), json);
		}),
		{ numRuns: 3_000 },
	);
});
