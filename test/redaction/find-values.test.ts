import assert from 'node:assert/strict';
import test from 'node:test';
import { censorPersonalData, findValues, REDACTION_KINDS, type RedactionKind } from '../../src/redaction/index.ts';
import { found, measure, readCorpus } from './corpus.ts';

const CORPUS = readCorpus('corpus.txt');
const UNSEEN = readCorpus('corpus-unseen.txt');

for (const kind of REDACTION_KINDS) {
	test(`finds every ${kind} of the corpus, and nothing else`, () => {
		assert.deepEqual(measure(CORPUS, kind).failures, []);
	});
}

test('misses few values of messages that the rules were not made for', () => {
	const { precision, recall, failures } = measure(UNSEEN, 'phone');
	assert.ok(precision >= 0.97 && recall >= 0.97, failures.join('\n'));
	assert.deepEqual(measure(UNSEEN, 'card').failures, []);
	assert.equal(measure(UNSEEN, 'email').missed, 1, 'a domain that goes on with the next sentence');
});

test('finds only the kinds that it is asked for', () => {
	const text = 'ada@example.com, +44 7700 900123, 4111 1111 1111 1111';
	const kindsIn = (...kinds: RedactionKind[]) => findValues(text, new Set(kinds)).map(({ kind }) => kind);
	assert.deepEqual(kindsIn('email'), ['email']);
	assert.deepEqual(kindsIn('phone'), ['phone']);
	assert.deepEqual(kindsIn('card', 'email'), ['email', 'card']);
	assert.deepEqual(kindsIn(), []);
});

test('gives one key to the spellings of a value', () => {
	const keys = (text: string) => new Set(findValues(text, new Set(REDACTION_KINDS)).map(({ key }) => key));
	assert.deepEqual([...keys('+44 7700 900123, 00447700900123, +44 (0)7700-900123')], ['+447700900123']);
	assert.deepEqual([...keys('Ada@Example.com ada@example.com')], ['ada@example.com']);
	assert.deepEqual([...keys('4111-1111-1111-1111 or 4111111111111111')], ['4111111111111111']);
});

test('takes a number for a phone number wherever it comes after it was one', () => {
	const [value] = findValues('My phone: 512 345 678', new Set(REDACTION_KINDS));
	assert.equal(value?.key, '512345678');
	assert.deepEqual(findValues('So 512345678 it is', new Set(REDACTION_KINDS)), []);
	assert.equal(findValues('So 512345678 it is', new Set(REDACTION_KINDS), (key) => key === value.key).length, 1);
});

test('finds values beside each other whole', () => {
	assert.deepEqual(found('0171 1234567 0172 7654321'), ['phone:0171 1234567', 'phone:0172 7654321']);
	assert.deepEqual(found('4111 1111 1111 1111 12/27'), ['card:4111 1111 1111 1111']);
	assert.deepEqual(found('call 4111111111111111 0171 1234567'), ['card:4111111111111111', 'phone:0171 1234567']);
	assert.deepEqual(found('0171 1234567,0172 7654321;0173/1112223'), [
		...['phone:0171 1234567', 'phone:0172 7654321', 'phone:0173/1112223'],
	]);
	assert.deepEqual(found('T+49 171 1234567 20171234'), ['phone:+49 171 1234567']);
	assert.deepEqual(found('+44 7700 900123 +44 7700 900124'), ['phone:+44 7700 900123', 'phone:+44 7700 900124']);
	assert.deepEqual(found('phone#07700900123, phone-0171  1234567'), ['phone:07700900123', 'phone:0171  1234567']);
	assert.deepEqual(found('4111.1111.1111.1111 and 4111  1111 - 1111 1111'), [
		...['card:4111.1111.1111.1111', 'card:4111  1111 - 1111 1111'],
	]);
	assert.deepEqual(found('01711234567@example.com'), ['email:01711234567@example.com']);
});

test('reads hostile texts of 300,000 characters in time that grows with their length', () => {
	const pieces = [
		...['1 ', '1-', '+', '(', '@', 'a@a.', 'x@', '.', '0', '0171 1234567 / ', '4111 1111 1111 1112 ', 'AB12 ABCD '],
		...['://1234567', '1234567電話', '０９０−', 'tel 1234567', '[EMAIL_', '\\[', 'a.'],
	];
	for (const piece of pieces) {
		const text = `x@${piece.repeat(Math.ceil(300_000 / piece.length))}`;
		assert.ok(censorPersonalData(text).length > 0);
	}
});

test('the log gets the kind of a value in its place', () => {
	assert.equal(
		censorPersonalData('Invalid value "ada@example.com" beside +44 7700 900123 and 4111111111111111.'),
		'Invalid value "[email]" beside [phone] and [card].',
	);
	assert.equal(censorPersonalData('status 503 after 1200 ms'), 'status 503 after 1200 ms');
});
