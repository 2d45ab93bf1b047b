/**
 * npm run train:answerer
 *
 * Writes src/extractive/matching/weights.json: what orders the parts that may answer a question, and how probably the first of them is
 * right. The examples come from an index and a search in this process, and random numbers have seeds. docs/retrieval.md
 * describes the method. Prints how each open set fares with weights that were fitted without it.
 */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ANSWER_FEATURES, RANKING_FEATURES } from '../../../src/extractive/training/index.ts';
import { collectQuestions } from './collect-questions.ts';
import { exampleOf } from './examples.ts';
import { calibrated, calibrationFor, fitAnswerer, type Judged, judgeApart } from './fit.ts';
import { leastCostThresholds } from './thresholds.ts';

const WEIGHTS = fileURLToPath(new URL('../../../src/extractive/matching/weights.json', import.meta.url));
/** The table of a higher threshold for all answers. */
const THRESHOLDS = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

const examples = (await collectQuestions()).map(exampleOf);
const crossFitted = judgeApart(examples).filter(({ kind }) => kind === 'asked');
const calibration = calibrationFor(crossFitted);
const judged = crossFitted.map((one) => ({ ...one, probability: calibrated(calibration, one.probability) }));
const thresholds = leastCostThresholds();
const { ranking, answer, intercept } = fitAnswerer(examples);
const rounded = (value: number) => Math.round(value * 1_000) / 1_000;
const named = (names: readonly string[], values: readonly number[]) =>
	Object.fromEntries(names.map((name, at) => [name, rounded(values[at] as number)]));
const weights = {
	ranking: named(RANKING_FEATURES, ranking),
	thresholds,
	intercept: rounded(calibration.slope * intercept + calibration.offset),
	answer: named(
		ANSWER_FEATURES,
		answer.map((weight) => calibration.slope * weight),
	),
};
writeFileSync(WEIGHTS, `${JSON.stringify(weights, null, '\t')}\n`);
report(judged);

/** Whether the answer is given with the thresholds of this training. */
function isGiven({ probability, isSentence }: Judged): boolean {
	return probability >= (isSentence ? thresholds.sentence : thresholds.value);
}

function report(asked: readonly Judged[]): void {
	const count = (of: readonly Judged[], holds: (one: Judged) => boolean) => of.filter(holds).length;
	const line = (name: string, gives: (one: Judged) => boolean) => {
		const given = asked.filter(gives);
		const answerable = asked.filter(({ isAnswerable }) => isAnswerable);
		const others = asked.filter(({ isAnswerable }) => !isAnswerable);
		const right = count(given, ({ isRight }) => isRight);
		console.log(
			`${name}: ${right} of ${answerable.length} right, ${count(others, (one) => !gives(one))} of ${others.length} unanswerable refused, ` +
				`${Math.round((100 * (given.length - right)) / (given.length || 1))} % of the given answers wrong`,
		);
	};
	console.log(`${examples.length} examples; questions of people by weights that were fitted without their set:`);
	line(`thresholds ${thresholds.value} of values and ${thresholds.sentence} of sentences`, isGiven);
	for (const threshold of THRESHOLDS) line(`threshold ${threshold}`, ({ probability }) => probability >= threshold);
	for (let from = 0; from < 10; from++) {
		const bin = asked.filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === from);
		const share = count(bin, ({ isRight }) => isRight) / (bin.length || 1);
		console.log(
			`promised ${from / 10} to ${(from + 1) / 10}: ${bin.length} answers, ${Math.round(100 * share)} % right`,
		);
	}
}
