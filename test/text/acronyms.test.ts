import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definedAcronyms, generalVariants, queryWords, variantsOf, withVariants } from '../../src/text/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';

test('finds the acronyms that a text defines, with the long form before or after', () => {
	const defined: Array<[text: string, found: string[]]> = [
		['We ship to the United Kingdom (UK) only.', ['UK United Kingdom']],
		['We ship to the EU (European Union).', ['EU European Union']],
		['The Service Level Agreements (SLAs) are public.', ['SLA Service Level Agreements']],
		['Die Datenschutz-Grundverordnung (DSGVO) gilt.', ['DSGVO Datenschutz-Grundverordnung']],
		['Prices (EUR) and colours (RED).', []],
		['See the plan (OK) and E3 (no water).', []],
		['Costs. United Kingdom (UK)', ['UK United Kingdom']],
	];
	for (const [text, found] of defined)
		assert.deepEqual(
			definedAcronyms(text).map(({ short, long }) => `${short} ${long}`),
			found,
			text,
		);
});

test('gives general acronyms, units and months their other spellings', () => {
	const variants = (query: string, language: string) =>
		withVariants(queryWords(query, [language]), [generalVariants(language)]).map(
			({ stems, variants: of = [] }) => `${stems.join()}: ${of.map((form) => form.join(' ')).join(', ')}`,
		);
	assert.deepEqual(variants('uk', 'en'), ['uk: unit kingdom']);
	assert.deepEqual(variants('United Kingdom', 'en'), ['unit: uk', 'kingdom: ']);
	assert.deepEqual(variants('shipping to the USA', 'en').slice(1), ['usa: unit state, unit state america']);
	assert.deepEqual(variants('oct', 'en'), ['oct: octob']);
	assert.deepEqual(variants('October', 'en'), ['octob: oct']);
	assert.deepEqual(variants('Mehrwertsteuer', 'de'), ['mehrwertsteu: mwst']);
	assert.deepEqual(variants('phone number', 'en'), ['phone: tel, telephon', 'number: ']);
	assert.deepEqual(variants('sun', 'en'), ['sun: ']);
	assert.deepEqual(
		[...variantsOf([{ short: 'UK', long: 'United Kingdom' }], null).byTerm],
		[['uk', [['united', 'kingdom']]]],
	);
});

test('reads long texts in linear time', async () => {
	const spent = await cpuMilliseconds(async () => {
		definedAcronyms('word '.repeat(50_000));
		definedAcronyms(`${'A'.repeat(50_000)} (${'B '.repeat(20_000)}`);
		definedAcronyms('United Kingdom (UK) '.repeat(5_000));
	});
	assert.ok(spent < 1_000, `${spent} ms`);
});
