import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSource } from '../../src/extractive/compose-answer.ts';
import { matchesAnswerType } from '../../src/extractive/question/answer-forms.ts';
import { asksComparison } from '../../src/extractive/question/comparisons.ts';
import { parsePassageBlocks } from '../../src/extractive/reading/passage-blocks.ts';
import { quantitiesIn, rangeMatch, rangesIn } from '../../src/extractive/reading/ranges.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';
import { passage } from '../support/passage.ts';

test('reads groups of thousands by the language', () => {
	const values: Array<[string, string | null, number]> = [
		['1,000 kg', 'en', 1000],
		['1.5 kg', 'en', 1.5],
		['1.500 kg', 'en', 1.5],
		['1.500 kg', 'de', 1500],
		['1,500 kg', 'de', 1.5],
		['1,5 kg', 'de', 1.5],
		['10 000 km', 'fr', 10_000],
		['10\u202f000 km', 'fr', 10_000],
		['10 000 km', 'en', 10_000],
		["1'000 kg", 'de', 1000],
		['1,234,567 kg', 'de', 1_234_567],
		['12.345,5 kg', 'de', 12_345.5],
		['1,000 kg', null, 1000],
		['0.125 kg', null, 0.125],
	];
	for (const [text, language, value] of values)
		assert.deepEqual(
			quantitiesIn(text, language).map((one) => one.value),
			[value],
			`${text} in ${language}`,
		);
	const [range] = rangesIn('500–1,000 kg', 'en');
	assert.deepEqual([range?.from, range?.to], [500, 1000]);
	assert.deepEqual(
		rangesIn('1,000 kg and more', 'en').map(({ from }) => from),
		[1000],
	);
});

test('compares whole units', () => {
	const match = (range: string, quantity: string) => rangeMatch(rangesIn(range, 'en'), quantitiesIn(quantity, 'en'));
	assert.equal(match('5 to 10 minutes', '7 minutes'), 1);
	assert.equal(match('5 to 10 min', '7 minutes'), 1);
	assert.equal(match('5 to 10 years', '7 year'), 1);
	assert.equal(match('5 to 10 minimum', '7 minutes'), 0);
	assert.equal(match('5 to 10 persons', '7 periods'), 0);
	assert.equal(rangeMatch(rangesIn('4 bis 15 Jahre', 'de'), quantitiesIn('ab 7 Jahren', 'de')), 1);
});

test('recognises comparisons by their words', () => {
	const compare = [
		'Is Crawl or Diving cheaper?',
		'Which plan is the largest?',
		'What is the difference between A and B?',
	];
	for (const question of compare) assert.ok(asksComparison(question, 'en'), question);
	const others = ['What is the order number?', 'Is the manager or the owner there?', 'What is the cost per user?'];
	for (const question of others) assert.ok(!asksComparison(question, 'en'), question);
	assert.ok(asksComparison('Ist Kraulen oder Tauchen günstiger?', 'de'));
	assert.ok(!asksComparison('Was ist die Nummer der Mutter?', 'de'));
	assert.ok(asksComparison('Lequel est le moins cher ?', 'fr'));
});

test('takes no number of days for a place', () => {
	for (const text of [
		'12 Mill Lane',
		'80331 München',
		'Hauptstraße 5',
		'MÜHLWEG 7',
		'the second floor',
		'5 rue de la Paix',
	])
		assert.ok(matchesAnswerType(text, 'place'), text);
	for (const text of ['within 14 days of delivery', 'after 3 attempts the account is locked'])
		assert.ok(!matchesAnswerType(text, 'place'), text);
});

test('reads hostile questions and lines in linear time', async () => {
	const spent = await cpuMilliseconds(async () => {
		asksComparison(`${'is more '.repeat(375)}x`, 'en');
		asksComparison(`${'ist am '.repeat(375)}x`, 'de');
		for (const letter of ['a', 'A', 'Ab']) matchesAnswerType(letter.repeat(3_000), 'place');
		matchesAnswerType('1 a '.repeat(1_000), 'place');
		parsePassageBlocks(`a${'\t'.repeat(50_000)}`);
		parsePassageBlocks(`${'\t'.repeat(50_000)}a\n| a`);
	});
	assert.ok(spent < 100, `${spent} ms`);
});

test('lets other work run between two tables of a passage', () => {
	const table = (name: string) => `Name | Price\n${name} one | €4\n${name} two | €5`;
	const text = Array.from({ length: 8 }, (_, i) => table(`Number ${i}`)).join('\n\n');
	const steps = readSource(passage(text, { title: 'Eight tables' }), 'en');
	let count = 0;
	let step = steps.next();
	for (; !step.done; step = steps.next()) count++;
	assert.equal(step.value.reading.tables.length, 8);
	assert.ok(count >= 8, `${count} steps`);
});
