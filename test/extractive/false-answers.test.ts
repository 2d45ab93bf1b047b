import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesIn } from '../../src/extractive/question/question.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const FAQ = [
	'Is breakfast included in the price?\nYes, for all guests.',
	'Can I return items?\nYes, within 30 days with the receipt.',
	'Can I park at the station?\nNo, parking is not allowed.',
	'Can I send a return from Norway?\nYes, within five days by parcel.',
].join('\n\n');
const INLINE_FAQ = FAQ.replaceAll('?\n', '? ');

for (const [form, text] of [
	['on lines of their own', FAQ],
	['before their replies', INLINE_FAQ],
] as const) {
	test(`gives no reply to another question of a list of questions ${form}`, async () => {
		const asked: Array<[string, string]> = [
			['Is dinner included in the price?', 'Is breakfast included in the price?'],
			['Can I return opened items?', 'Can I return items?'],
			['Can I return items without a receipt?', 'Can I return items?'],
			['Can I park at the hotel?', 'Can I park at the station?'],
			['Can I pay in Norway?', 'Can I send a return from Norway?'],
		];
		for (const [question, own] of asked) {
			const answer = await ask(question, [passage(text)]);
			if (citedIndexes(answer, [{ index: 1 }]).length === 0) continue;
			assert.ok(answer.includes(own) || !/^(Yes|No)\b/.test(answer), `${question} → ${answer}`);
			assert.doesNotMatch(answer, /^(Yes|No)\b/, question);
		}
	});
}

test('shows the question above a short reply where it says more than the asked one', async () => {
	const text = 'Is parking free for members?\nYes, at all times of the day.';
	const answer = await ask('Is parking free?', [passage(text)]);
	assert.equal(answer, 'Is parking free for members? Yes, at all times of the day. [1]');
});

test('gives the reply to the asked question alone', async () => {
	const answer = await ask('Is breakfast included in the price?', [passage(FAQ)]);
	assert.equal(answer, 'Yes, for all guests. [1]');
});

test('shows a question that is the heading of the passage', async () => {
	const text = 'No, parking is not allowed.';
	const answer = await ask('Can I park at the hotel?', [
		passage(text, { title: 'Hotel FAQ', heading_path: ['Can I park at the station?'] }),
	]);
	assert.equal(answer, 'Can I park at the station? No, parking is not allowed. [1]');
});

test('answers about a code with its own row only', async () => {
	const rows = ['Code | Cause | Remedy', 'E1 | No water | Fill the tank', 'E2 | Too hot | Let it cool'].join('\n');
	for (const more of [{ heading_path: ['Error codes E1–E3'] }, { title: 'Error E3 and others' }]) {
		for (const text of [rows, 'E1: No water.\nE2: Too hot.', 'Error E1 means no water. Error E2 means too hot.']) {
			const answer = await ask('What does E3 mean?', [passage(text, more)]);
			assert.deepEqual(citedIndexes(answer, [{ index: 1 }]), [], answer);
		}
	}
});

test('answers about a code from the text under its heading', async () => {
	const more = { heading_path: ['Error codes E1–E3', 'Error E3'] };
	const answer = await ask('What does error E3 mean?', [passage('The temperature sensor has failed.', more)]);
	assert.equal(answer, 'The temperature sensor has failed. [1]');
});

test('adds no sentence about another code', async () => {
	const answer = await ask('What does E1 mean?', [passage('Error E1 means overheating. Error E3 means no water.')]);
	assert.equal(answer, 'Error E1 means overheating. [1]');
});

test('reads codes beside letters of a script without spaces, and whole', () => {
	assert.deepEqual(codesIn('E3とは何ですか'), ['E3']);
	assert.deepEqual(codesIn('エラーE3が出ました。'), ['E3']);
	assert.deepEqual(codesIn('HB170-2, TW-110 and f07'), ['HB170-2', 'TW110', 'F07']);
	assert.deepEqual(codesIn('54mm, 3 kg, E12345, ABCDE1'), []);
});
