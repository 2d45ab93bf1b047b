import test from 'node:test';
import { dialogueFigures, replayDialogues } from '../../bench/answers/dialogues.ts';
import { readQaCollection } from '../../bench/answers/qa-collections.ts';
import { askSpans, spanFigures } from '../../bench/answers/spans.ts';
import type { Goal } from '../../bench/report/figure.ts';
import { assertWithin, atLeast, atMost, localAssistants } from './bounds.ts';

// A part of `npm run bench -- answers`, in this process. The bounds are below the present figures by two answers.

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

const create = localAssistants();
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
