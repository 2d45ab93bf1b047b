import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expectation, hasValue, judge, normalise } from '../../bench/answers/judge.ts';

const PRICE: Expectation = { answerable: true, required: [['€ 20', '20 EUR'], ['month']], forbidden: ['€ 24'] };
const UNANSWERABLE: Expectation = { answerable: false, required: [], forbidden: ['€ 20'] };

const outcomeOf = (content: string, expected: Expectation, isCited = true) =>
	judge({ content, isCited }, expected).outcome;

test('compares texts without accents, case, citation markers and punctuation', () => {
	assert.equal(normalise('Écrivez à Zoë [1], s’il vous plaît!'), 'ecrivez a zoe s il vous plait');
	assert.equal(normalise('**Größe**: ½ L [12]'), 'große 1 2 l');
	assert.equal(normalise('Mon–Fri, 9–17'), 'mon fri 9 17');
	assert.equal(normalise('  \n'), '');
});

test('keeps a point, a comma and a colon between digits', () => {
	assert.equal(normalise('€1,250.50 until 9:30.'), '1,250.50 until 9:30');
	assert.equal(normalise('Version 2., then 3: yes'), 'version 2 then 3 yes');
});

test('matches values at word boundaries only', () => {
	assert.ok(hasValue('It costs €20 per month.', '20 month') === false);
	assert.ok(hasValue('It costs €20 per month.', '€ 20'));
	assert.ok(!hasValue('It costs €200.', '€ 20'));
	assert.ok(!hasValue('It costs €20.50.', '€ 20'));
	assert.ok(!hasValue('Open until 19:00.', '9:00'));
	assert.ok(hasValue('Call 01632 960-167[2].', '01632 960 167'));
	assert.ok(!hasValue('Something', ' – '));
});

test('calls a reply right that has a value of each group and none that is forbidden', () => {
	assert.equal(outcomeOf('The Studio plan costs 20 EUR a month. [1]', PRICE), 'right');
	assert.equal(outcomeOf('The Studio plan costs €20 a year. [1]', PRICE), 'wrong');
	assert.equal(outcomeOf('The Studio plan costs €24 a month. [1]', PRICE), 'wrong');
});

test('calls a reply mixed that has the required values beside a forbidden one', () => {
	const judgement = judge({ content: 'Studio €20, Firm €24 a month. [1]', isCited: true }, PRICE);
	assert.deepEqual(judgement, { outcome: 'mixed', isRefusal: false, missing: [], forbidden: ['€ 24'] });
});

test('calls a reply without citations a refusal, also if it has the values', () => {
	assert.equal(outcomeOf('I found nothing about that.', PRICE, false), 'refused');
	assert.equal(outcomeOf('It is €20 a month.', PRICE, false), 'refused');
	assert.deepEqual(judge({ content: 'Nothing.', isCited: false }, PRICE).missing, PRICE.required);
});

test('expects a refusal without forbidden values of an unanswerable question', () => {
	assert.equal(outcomeOf('I found nothing about that.', UNANSWERABLE, false), 'right');
	assert.equal(outcomeOf('I found nothing but € 20.', UNANSWERABLE, false), 'wrong');
	assert.equal(outcomeOf('The shop is open on Saturday. [1]', UNANSWERABLE), 'wrong');
});

test('expects no citations where they are optional', () => {
	const courtesy: Expectation = { answerable: true, required: [['assistant']], forbidden: [], citationOptional: true };
	assert.equal(outcomeOf('I am an automatic assistant.', courtesy, false), 'right');
	assert.equal(outcomeOf('I am a robot.', courtesy, false), 'wrong');
	assert.equal(outcomeOf('I found nothing.', { ...courtesy, answerable: false, required: [] }, false), 'right');
});
