import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../bench/answers/judge.ts';
import type { JudgedAnswer } from '../../bench/answers/judged-sets.ts';
import { expectationOf, type JudgedQuestion } from '../../bench/answers/question-sets.ts';
import { setFigures } from '../../bench/answers/set-figures.ts';
import { transcript, transcriptEntry, worstAnswers } from '../../bench/answers/transcript.ts';

const QUESTION: JudgedQuestion = {
	id: 'shop-1',
	language: 'en',
	kind: 'price',
	history: [],
	question: 'What does a lid cost?',
	answerable: true,
	on_topic: true,
	required: [['12 euros']],
	forbidden: ['29'],
	sources: ['prices.md'],
};

/** @param content a reply, which cites a document if it has a marker */
function answerTo(question: Partial<JudgedQuestion>, content: string, score = 0.5): JudgedAnswer {
	const asked = { ...QUESTION, ...question };
	const cited = content.includes('[1]') ? ['prices.md'] : [];
	const judgement = judge({ content, isCited: cited.length > 0 }, expectationOf(asked));
	return { set: 'shop', question: asked, reply: { content, cited, score }, judgement };
}

const right = answerTo({ id: 'right' }, '12 euros. [1]');
const mixed = answerTo({ id: 'mixed' }, 'A lid 12 euros, a sensor 29. [1]');
const incomplete = answerTo({ id: 'incomplete' }, 'A lid has a price. [1]');
const refused = answerTo({ id: 'refused' }, 'I found nothing.');
const followUp = answerTo({ id: 'follow-up', history: ['Do you sell lids?'], kind: 'table' }, '12 euros. [1]');
const unanswerable = { answerable: false, required: [] };
const rejected = answerTo({ ...unanswerable, id: 'rejected', language: 'de' }, 'I found nothing.');
const invented = answerTo({ ...unanswerable, id: 'invented', on_topic: false }, 'It is blue. [1]', 0.9);
const all = [right, mixed, incomplete, refused, followUp, rejected, invented];

test('counts answerable questions, follow-ups and unanswerable questions apart', () => {
	const remarkOf = Object.fromEntries(setFigures('shop', all).map(({ name, remark }) => [name, remark]));
	const counts = (name: string) => remarkOf[`shop: ${name}`];
	assert.equal(counts('single questions right'), '1 of 4; 1 mixed, 1 wrong, 1 refused');
	assert.equal(counts('follow-ups right'), '1 of 1; 0 mixed, 0 wrong, 0 refused');
	assert.equal(counts('unanswerable refused'), '1 of 2');
	assert.equal(counts('unanswerable refused, on topic'), '1 of 1');
	assert.equal(counts('unanswerable refused, foreign'), '0 of 1');
	assert.equal(counts('language de, unanswerable refused'), '1 of 1');
	assert.equal(counts('kind table, right'), '1 of 1; 0 mixed, 0 wrong, 0 refused');
	assert.equal(counts('kind code, right'), undefined);
});

test('counts mixed answers and answers to unanswerable questions as wrong among the given ones', () => {
	const figure = setFigures('shop', all).find(({ name }) => name === 'shop: wrong among given answers');
	assert.equal(figure?.remark, '3 of 5');
	assert.equal(figure?.value.median, 60);
});

test('lists false values first, then invented answers, incomplete ones and refusals', () => {
	const ids = (count: number) => worstAnswers(all, count).map(({ question }) => question.id);
	assert.deepEqual(ids(30), ['mixed', 'invented', 'incomplete', 'refused']);
	assert.deepEqual(ids(2), ['mixed', 'invented']);
});

test('shows the dialogue, the reply and the judgement of an answer', () => {
	const again = answerTo({ history: ['Do you sell lids?'] }, 'A sensor costs 29. [1]');
	const text = transcript('Answers', [transcriptEntry(again)]);
	assert.ok(text.includes('> Do you sell lids?\n\n> What does a lid cost?\n\nA sensor costs 29. [1]'), text);
	assert.ok(text.includes('*wrong, without ‹12 euros›, with ‹29›; expected ‹12 euros› from prices.md*'), text);
});
