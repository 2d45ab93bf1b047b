import test from 'node:test';
import { askSet, type JudgedAnswer } from '../../bench/answers/judged-sets.ts';
import { readQuestionSets } from '../../bench/answers/question-sets.ts';
import { setFigures } from '../../bench/answers/set-figures.ts';
import type { Goal } from '../../bench/report/figure.ts';
import { assertWithin, atLeast, atMost, localAssistants } from './bounds.ts';

// A part of `npm run bench -- answers`, in this process. The bounds are below the present figures by two answers.

const BOUNDS: Record<string, Goal> = {
	'open: single questions right': atLeast(76),
	'open: follow-ups right': atLeast(72),
	'open: unanswerable refused': atLeast(79),
	'open: unanswerable refused, foreign': atLeast(92),
	'open: wrong among given answers': atMost(16),
	'open: reply length, median': atMost(85),
	'open: reply length, 90th percentile': atMost(190),
};

const create = localAssistants();

test('answers about companies keep their figures', async (t) => {
	const answers: JudgedAnswer[] = [];
	for (const set of readQuestionSets('open').sets) {
		// Its documents are not on every machine, and the bounds hold for the same questions everywhere.
		if (set.name === 'public-documents') continue;
		answers.push(...(await askSet(create, set)).answers);
	}
	assertWithin(setFigures('open', answers), BOUNDS, t);
});
