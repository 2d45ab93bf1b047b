import assert from 'node:assert/strict';
import { test } from 'node:test';
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
