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
	assert.deepEqual(codesIn('E1–E3, F08 to F10, 3 to E4'), ['E1', 'E3', 'F08', 'F10', 'E4', 'E2', 'F09']);
});

const ZONES = '| Zone | Charge |\n|---|---|\n| Inland | €4 |\n| Europe | €9 |\n| World | €19 |';
const ALL_ZONES = '- Inland, Charge: €4\n- Europe, Charge: €9\n- World, Charge: €19 [1]';

test('gives the whole column where the question names no row', async () => {
	const zones = [passage(ZONES, { title: 'Delivery charges' })];
	assert.equal(await ask('What is the delivery charge?', zones), ALL_ZONES);
	const japan = await ask('how much is delivery to japan', zones);
	assert.ok(japan === ALL_ZONES || citedIndexes(japan, zones).length === 0, japan);
	assert.equal(await ask('How much is delivery to Europe?', zones), 'Europe, Charge: €9 [1]');
});

test('gives no row of a long column where the question names none', async () => {
	const rows = Array.from({ length: 20 }, (_, i) => `| Zone ${String.fromCharCode(65 + i)} | €${i + 4} |`);
	const zones = [passage(`| Zone | Charge |\n|---|---|\n${rows.join('\n')}`, { title: 'Delivery charges' })];
	assert.deepEqual(citedIndexes(await ask('What is the delivery charge?', zones), zones), []);
});

test('joins the rows of one name', async () => {
	const header = '| Day | Open | Desk |\n|---|---|---|\n';
	const rows = '| Monday | 9–12 | closed |\n| Monday | 14–17 | closed |\n| Tuesday | 9–13 | 9–11 |';
	const answer = await ask('When are you open on Monday?', [passage(`${header}${rows}`, { title: 'Opening hours' })]);
	assert.match(answer, /9–12/);
	assert.match(answer, /14–17/);
	const pairs = 'Monday | 9–12\nMonday | 14–17\nTuesday | 9–13';
	const both = await ask('When are you open on Monday?', [passage(pairs, { title: 'Opening hours' })]);
	assert.equal(both, 'Monday: 9–12; 14–17 [1]');
});

test('takes no row of values for the names of the columns', async () => {
	const people = [passage('Alice | Sales | Berlin\nBob | Support | Paris', { title: 'Departments' })];
	assert.equal(await ask('Alice department?', people), 'Alice – Sales; Berlin [1]');
	assert.equal(await ask('Which department is Bob in?', people), 'Bob – Support; Paris [1]');
});

test('takes a first row of common names of columns for the header', async () => {
	const people = [passage('Name | Department | City\nAlice | Sales | Berlin\nBob | Support | Paris')];
	assert.equal(await ask('Which department is Bob in?', people), 'Bob, Department: Support [1]');
});

test('takes models for the names of columns', async () => {
	const machines = [passage('Model | HB170 | HB180\nWeight | 2 kg | 3 kg\nPower | 100 W | 200 W')];
	assert.equal(await ask('What is the weight of the HB170?', machines), 'Weight, HB170: 2 kg [1]');
	const parts = [passage('Type | HB170 | 2 kg\nType | HB180 | 3 kg')];
	assert.doesNotMatch(await ask('How heavy is the HB180?', parts), /HB170/);
});

test('answers about a code from the row of its range', async () => {
	const rows = 'Code | Cause | Remedy\nE1–E4 | Sensor broken | Call a technician\nE5 | No water | Fill the tank';
	const errors = [passage(rows, { title: 'Error codes' })];
	const answer = await ask('What does E3 mean?', errors);
	assert.match(answer, /Sensor broken/);
	assert.doesNotMatch(answer, /No water/);
	assert.deepEqual(citedIndexes(await ask('What does E7 mean?', errors), errors), []);
});

test('takes a holiday for no day of the week', async () => {
	const text = 'Karfreitag: geschlossen\nFreitag: 9–18 Uhr';
	const answer = await ask('Wann ist am Freitag geöffnet?', [passage(text, { title: 'Öffnungszeiten' })]);
	assert.match(answer, /9–18 Uhr/);
	assert.doesNotMatch(answer, /geschlossen/);
});

test('answers when it closes from the hours of the day', async () => {
	const text = 'Monday: 9:00–17:00\nTuesday: 9:00–18:00';
	const hours = [passage(text, { title: 'Shop', heading_path: ['Opening hours'] })];
	assert.equal(await ask('When do you close on Monday?', hours), 'Opening hours, Monday: 9:00–17:00 [1]');
});
