import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SourceDocument } from '../../bench/answers/assistant.ts';
import { dialogueFigures, replayDialogues } from '../../bench/answers/dialogues.ts';
import { askSet, type JudgedAnswer } from '../../bench/answers/judged-sets.ts';
import { readQaCollection } from '../../bench/answers/qa-collections.ts';
import { readQuestionSets } from '../../bench/answers/question-sets.ts';
import { setFigures } from '../../bench/answers/set-figures.ts';
import { askSpans, spanFigures } from '../../bench/answers/spans.ts';
import { LocalAssistant } from '../../bench/answers/training/local-assistant.ts';
import { type Figure, type Goal, isMet } from '../../bench/report/figure.ts';

// A part of `npm run bench -- answers`, in this process. The bounds are below the present figures by two answers.

const atLeast = (bound: number): Goal => ({ is: 'at least', bound });
const atMost = (bound: number): Goal => ({ is: 'at most', bound });

const SPAN_BOUNDS: Record<string, Goal> = {
	'squad: right passage first': atLeast(86),
	'squad: right passage among five': atLeast(97),
	'squad: gold span in the answer': atLeast(88),
	'squad: right passage cited': atLeast(92),
	'squad: answerable refused': atMost(3),
	'squad: foreign refused': atLeast(92),
	'squad: reply length, median': atMost(270),
	'squad: reply length, 90th percentile': atMost(390),
};
const DIALOGUE_BOUNDS: Record<string, Goal> = {
	'mtrag-un: nDCG@5, first questions': atLeast(0.91),
	'mtrag-un: nDCG@5, later questions': atLeast(0.88),
	'mtrag-un: relevant passage cited': atLeast(82),
	'mtrag-un: answerable refused': atMost(10.5),
	'mtrag-un: unanswerable refused': atLeast(72),
};
const SET_BOUNDS: Record<string, Goal> = {
	'open: single questions right': atLeast(75),
	'open: follow-ups right': atLeast(72),
	'open: unanswerable refused': atLeast(76),
	'open: unanswerable refused, foreign': atLeast(92),
	'open: wrong among given answers': atMost(18),
	'open: reply length, median': atMost(85),
	'open: reply length, 90th percentile': atMost(190),
};

const assistants: LocalAssistant[] = [];
const create = async (_: string, documents: readonly SourceDocument[]): Promise<LocalAssistant> => {
	const assistant = await LocalAssistant.create(documents);
	assistants.push(assistant);
	return assistant;
};
after(() => Promise.all(assistants.map((assistant) => assistant[Symbol.asyncDispose]())));

const squad = readQaCollection('squad', ['Normans', 'Scottish_Parliament']);
const dialogues = readQaCollection('mtrag-un', ['clapnq']);
const skip = squad && dialogues ? false : 'the shared questions are not here';

test('answers about articles keep their figures', { skip }, async (t) => {
	if (!squad) return;
	assertWithin(spanFigures('squad', await askSpans(create, squad)), SPAN_BOUNDS, t);
});

test('answers in dialogues keep their figures', { skip }, async (t) => {
	if (!dialogues) return;
	assertWithin(dialogueFigures('mtrag-un', await replayDialogues(create, dialogues)), DIALOGUE_BOUNDS, t);
});

test('answers about companies keep their figures', async (t) => {
	const answers: JudgedAnswer[] = [];
	for (const set of readQuestionSets('open').sets) {
		// Its documents are not on every machine, and the bounds hold for the same questions everywhere.
		if (set.name === 'public-documents') continue;
		answers.push(...(await askSet(create, set)).answers);
	}
	assertWithin(setFigures('open', answers), SET_BOUNDS, t);
});

/** Shows all figures, and fails with those that are out of their bounds or missing. */
function assertWithin(
	figures: readonly Figure[],
	bounds: Record<string, Goal>,
	t: { diagnostic(message: string): void },
): void {
	for (const { name, value, remark } of figures) t.diagnostic(`${name}: ${value.median.toFixed(3)} (${remark})`);
	const missed = Object.entries(bounds).filter(([name, goal]) => {
		const figure = figures.find((one) => one.name === name);
		return figure === undefined || !isMet({ ...figure, goal });
	});
	assert.deepEqual(missed, []);
}
