import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamAnswer } from '../../src/extractive/index.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';
import { passage } from '../support/passage.ts';
import { ask, pieces, request } from './fixtures/ask.ts';
import { ANSWERABLE, HANDBOOK, UNANSWERABLE } from './fixtures/handbook.ts';

const NOTHING = /^I could not find an answer to that in the documents available to me\./;

for (const { question, facts, source } of ANSWERABLE) {
	test(`answers from the handbook: ${question}`, async () => {
		const answer = await ask(question, HANDBOOK);
		for (const fact of facts) assert.ok(answer.includes(fact), `${fact} is missing in: ${answer}`);
		assert.equal(citedIndexes(answer, HANDBOOK)[0], source, answer);
		const words = answer.split(/\s+/).length;
		assert.ok(words <= 180, `${words} words: ${answer}`);
	});
}

for (const question of UNANSWERABLE) {
	test(`finds no answer in the handbook: ${question}`, async () => {
		const answer = await ask(question, HANDBOOK);
		assert.match(answer, NOTHING);
		assert.deepEqual(citedIndexes(answer, HANDBOOK), []);
	});
}

test('quotes nothing without passages or with low confidence', async () => {
	assert.match(await ask('How many vacation days do I get?', [], { confidence: 0 }), NOTHING);
	assert.match(await ask('How many vacation days do I get?', HANDBOOK, { confidence: 0.05 }), NOTHING);
	assert.match(await ask('???', HANDBOOK), NOTHING);
	assert.match(await ask('What is it?', HANDBOOK), NOTHING);
});

test('begins with the answer, and cites its source after it', async () => {
	const answer = await ask('When are salaries paid?', HANDBOOK);
	assert.ok(answer.startsWith('Salaries are paid on the 25th of each month.'), answer);
	assert.match(answer, /25th of each month\..*\[4\]$/);
});

test('reads a follow-up together with the question before', async () => {
	const history = [
		{ role: 'user' as const, content: 'What is the daily allowance for Germany?' },
		{ role: 'assistant' as const, content: 'Germany, Daily allowance: 28 EUR [6]' },
	];
	const answer = await ask('And for France?', HANDBOOK, { history });
	assert.match(answer, /^France, Daily allowance: 40 EUR \[6\]$/);
	assert.doesNotMatch(answer, /Switzerland/);
	const asked = [{ role: 'user' as const, content: 'How many vacation days do I have?' }];
	assert.match(await ask('and when do they expire?', HANDBOOK, { history: asked }), /31 March/);
});

test('reads a new question without the question before', async () => {
	const history = [{ role: 'user' as const, content: 'How many vacation days do I get?' }];
	const answer = await ask('When is the main entrance open?', HANDBOOK, { history });
	assert.deepEqual(citedIndexes(answer, HANDBOOK), [9]);
});

test('replies to small talk with a line in its language, without quotations', async () => {
	const said: Array<[string, RegExp]> = [
		['hi', /^Hello!/],
		['Hello there!', /^Hello!/],
		['ok, thanks a lot 🙏', /^You're welcome!/],
		['Bye!', /^Goodbye!/],
		['Guten Tag', /^Hallo!/],
		['Vielen Dank!', /^Gern geschehen!/],
		['Bonjour', /^Bonjour/],
		['¡Gracias!', /^¡De nada!/],
		['dank je wel', /^Graag gedaan!/],
		['Obrigada!', /^De nada!/],
		['Ciao', /^Buongiorno!/],
		['ありがとうございます', /^どういたしまして/],
		['شكرا', /^على الرحب/],
		['Who are you?', /^I am an automatic assistant\./],
		['Sind Sie ein Roboter?', /^Ich bin ein automatischer Assistent/],
		['Hello, can I talk to a human?', /^I am an automatic assistant and cannot put you through/],
		['Je voudrais parler à quelqu’un', /^Je suis un assistant automatique/],
	];
	for (const [message, line] of said) {
		const answer = await ask(message, HANDBOOK);
		assert.match(answer, line);
		assert.deepEqual(citedIndexes(answer, HANDBOOK), []);
	}
});

test('quotes pronouns with the sentence that they refer to', async () => {
	const text = 'The starter kit holds a router and two cables. It costs 49 EUR including delivery. Boxes are blue.';
	const answer = await ask('How much does it cost including delivery?', [passage(text)]);
	assert.match(answer, /The starter kit holds a router and two cables\. It costs 49 EUR including delivery\. \[1\]$/);
});

test('quotes text of overlapping passages once', async () => {
	const shared = 'Parcels can be returned within 60 days of delivery.';
	const answer = await ask('Until when can parcels be returned?', [
		passage(`${shared} The form is in the box.`),
		passage(`We ship worldwide. ${shared}`, { index: 2 }),
	]);
	assert.equal(answer.split(shared).length, 2, answer);
});

test('keeps the sentences of one source in the order of the document', async () => {
	const text =
		'Membership begins on the day of payment. Refunds of a membership are possible for 14 days. ' +
		'After 14 days a membership ends with the year. Members vote in May.';
	const answer = await ask('refund membership after 14 days', [passage(text)]);
	const places = ['Refunds of', 'After 14 days'].map((start) => answer.indexOf(start));
	assert.ok((places[0] as number) >= 0 && (places[0] as number) < (places[1] as number), answer);
});

test('cuts a long list and marks the cut', async () => {
	const items = Array.from({ length: 30 }, (_, i) => `- supported country number ${i + 1}`);
	const answer = await ask('Which countries are supported?', [passage(`Supported countries:\n\n${items.join('\n')}`)]);
	assert.match(answer, /number 12 … \[1\]$/);
	assert.doesNotMatch(answer, /number 13/);
});

test('quotes a part of a document without punctuation', async () => {
	const text = `${'word '.repeat(400)}the tariff for students is 12 EUR ${'other '.repeat(400)}`;
	const answer = await ask('What is the tariff for students?', [passage(text)]);
	assert.match(answer, /12 EUR/);
	assert.ok(answer.length < 1_000, `${answer.length} characters`);
});

test('answers a question of 32,000 characters with fifty passages in bounded time', async () => {
	const long = 'the quick brown fox asks about vacation days '.repeat(700).slice(0, 32_000);
	const filler = 'Employees may work from home up to three days a week, as agreed. '.repeat(40);
	const passages = Array.from({ length: 50 }, (_, i) => passage(`Part ${i}. ${filler}`, { index: i + 1 }));
	const renumbered = passages.map((one) => ({ ...one, index: one.index + 10 }));
	const spent = await cpuMilliseconds(() => ask(long, [...HANDBOOK, ...renumbered]));
	assert.ok(spent < 2_000, `${spent} ms`);
});

/** A parser that backtracks would take very long for a repetition of any of them. */
const HOSTILE_PARTS = [
	'| ',
	'- ',
	'\t',
	'```\n',
	'# ',
	' ',
	'(',
	'"',
	'.',
	'…',
	'|-',
	':-',
	'1. ',
	', ',
	'\u0000',
	'<',
	'&',
];

test('reads hostile documents in bounded time', async () => {
	const spent = await cpuMilliseconds(async () => {
		for (const part of HOSTILE_PARTS) {
			await ask('What about vacation days?', [passage(`Vacation days: ${part.repeat(20_000)}`)]);
		}
	});
	assert.ok(spent < 8_000, `${spent} ms`);
});

test('streams the answer in pieces of a few words and lets other work run in between', async () => {
	let turns = 0;
	let running = true;
	const tick = () => {
		turns++;
		if (running) setImmediate(tick);
	};
	setImmediate(tick);
	const found = await pieces('How do I request leave?', { passages: HANDBOOK });
	running = false;
	assert.ok(found.length >= 8, `${found.length} pieces`);
	assert.ok(found.every((piece) => piece.length > 0 && piece.length <= 48));
	assert.ok(turns >= found.length - 1, `${turns} turns for ${found.length} pieces`);
});

test('never splits a surrogate pair', async () => {
	const text = `Vacation days are fun: ${'😀'.repeat(200)}`;
	const found = await pieces('vacation days', { passages: [passage(text)] });
	assert.ok(found.join('').includes('😀😀'));
	for (const piece of found) assert.doesNotMatch(piece, /\p{Surrogate}/u);
});

test('ends the answer at once on an abort, before it and within it', async () => {
	const reason = new Error('stopped');
	await assert.rejects(pieces('When are salaries paid?', { passages: HANDBOOK }, AbortSignal.abort(reason)), reason);
	const controller = new AbortController();
	const seen: string[] = [];
	await assert.rejects(async () => {
		for await (const piece of streamAnswer(
			request('How do I request leave?', { passages: HANDBOOK }),
			controller.signal,
		)) {
			seen.push(piece);
			if (seen.length === 2) controller.abort(reason);
		}
	}, reason);
	assert.equal(seen.length, 2);
});

test('names each value of a table with an empty corner by its own column', async () => {
	const table = '| Monday | Tuesday | Wednesday (summer 2026)\nSauna | closed | 14.00 | 15.00\nPool | 6.30 | | 8.30';
	const answer = await ask('When is the sauna open on Tuesday?', [passage(table)]);
	assert.equal(answer, 'Sauna, Tuesday: 14.00 [1]');
	const week = await ask('When is the sauna open?', [passage(table)]);
	assert.match(week, /Sauna – Monday: closed; Tuesday: 14\.00; Wednesday \(summer 2026\): 15\.00/);
	const pool = await ask('When does the pool open on Wednesday?', [passage(table)]);
	assert.equal(pool, 'Pool, Wednesday (summer 2026): 8.30 [1]');
});

test('a table of two columns with an empty corner keeps its column', async () => {
	const answer = await ask('What does the lid cost?', [
		passage('Spare parts\n\n| Price\nLid | 5 euros\nHandle | 9 euros'),
	]);
	assert.match(answer, /^Lid, Price: 5 euros \[1\]$/);
});

test('gives an answer only with the least probability that is asked for', async () => {
	const [question, text] = ['How long is the warranty?', passage('The warranty is two years.')];
	for (const [min_confidence, isGiven] of [
		[null, true],
		[0, true],
		[1, false],
	] as const) {
		const answer = await ask(question, [text], { min_confidence });
		assert.equal(answer.includes('two years'), isGiven, `${min_confidence}: ${answer}`);
	}
});
