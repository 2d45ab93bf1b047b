import { CHOICE_FEATURES, choiceFeatures, EVIDENCE_FEATURES } from '../../../src/extractive/training/index.ts';
import { fitChoices } from './conditional-logit.ts';
import { orderOf, type QuestionExample } from './examples.ts';
import { dot } from './linear-algebra.ts';
import { type Example, fitLogistic, logistic, probability } from './logistic-regression.ts';

/** The log-odds of 0 and 1 are infinite. */
const MIN_PROBABILITY = 1e-4;
const RANKING_PENALTY = 2;
const ANSWER_PENALTY = 1;

const SENTENCE = EVIDENCE_FEATURES.indexOf('sentence');

/** The weights of both decisions. */
export interface FittedAnswerer {
	ranking: number[];
	answer: number[];
	intercept: number;
}

/** An example that was judged by a model that was fitted without its group. */
export interface Judged extends Pick<QuestionExample, 'group' | 'kind' | 'isAnswerable'> {
	/** Whether any part answers. */
	isPossible: boolean;
	/** Whether the part that would be given is right, and how probable the model finds that; 0 without a part. */
	isRight: boolean;
	probability: number;
	/** Whether it is a sentence, which shows what it is about, rather than a value. */
	isSentence: boolean;
}

/** How much an example counts. Questions of people are worth more than generated ones, of which there are more. */
const WEIGHTS: Record<string, number> = {
	asked: 1,
	'asked, removed': 0.3,
	'asked elsewhere': 1,
	dialogue: 2,
	'type alone': 0.3,
	'whole column': 0.2,
};
const GENERATED_WEIGHT = 0.05;

/** Fits first the order of the candidates, then the probability that the first one is right. */
export function fitAnswerer(examples: readonly QuestionExample[]): FittedAnswerer {
	const weightOf = ({ kind }: QuestionExample) => WEIGHTS[kind] ?? GENERATED_WEIGHT;
	const choices = examples.map((example) => ({
		candidates: example.ranking,
		isRight: example.isRight,
		weight: weightOf(example),
	}));
	const ranking = fitChoices(choices, RANKING_PENALTY);
	const answers = examples.flatMap((example): Example[] => {
		const order = orderOf(example, ranking);
		const [first] = order;
		if (first === undefined) return [];
		return [
			{
				features: featuresOf(example, first, ranking),
				outcome: example.isRight[first] ? 1 : 0,
				weight: weightOf(example),
			},
		];
	});
	const { weights, intercept } = fitLogistic(answers, ANSWER_PENALTY);
	return { ranking, answer: weights, intercept };
}

/** The evidence of the first candidate, and how it compares with the others. */
function featuresOf({ answer, ranking }: QuestionExample, first: number, weights: readonly number[]): number[] {
	const choice = choiceFeatures(ranking.map((features) => dot(weights, features)));
	return [...(answer[first] as number[]), ...CHOICE_FEATURES.map((name) => choice[name])];
}

/** Judges each group of examples by a model that was fitted without it. */
export function judgeApart(examples: readonly QuestionExample[]): Judged[] {
	return [...new Set(examples.map(({ group }) => group))].flatMap((group) => {
		const fitted = fitAnswerer(examples.filter((example) => example.group !== group));
		return examples.filter((example) => example.group === group).map((example) => judgedBy(fitted, example));
	});
}

export function judgedBy({ ranking, answer, intercept }: FittedAnswerer, example: QuestionExample): Judged {
	const { group, kind, isAnswerable, isRight } = example;
	const order = orderOf(example, ranking);
	const [first] = order;
	const common = { group, kind, isAnswerable, isPossible: isRight.includes(true) };
	if (first === undefined) return { ...common, isRight: false, probability: 0, isSentence: false };
	const features = featuresOf(example, first, ranking);
	return {
		...common,
		isRight: isRight[first] === true,
		probability: probability({ weights: answer, intercept }, features),
		isSentence: features[SENTENCE] === 1,
	};
}

/** A straight line from the log-odds of a model to those of the outcomes (Platt scaling). */
export interface Calibration {
	slope: number;
	offset: number;
}

/** The calibration for answers that were judged by models that were fitted without them. */
export function calibrationFor(judged: readonly Judged[]): Calibration {
	const examples = judged.map(({ probability: found, isRight }) => {
		return { features: [logOdds(found)], outcome: isRight ? 1 : 0, weight: 1 };
	});
	const { weights, intercept } = fitLogistic(examples, 0);
	return { slope: weights[0] as number, offset: intercept };
}

export function calibrated({ slope, offset }: Calibration, found: number): number {
	return logistic(slope * logOdds(found) + offset);
}

function logOdds(probability: number): number {
	const bounded = Math.min(1 - MIN_PROBABILITY, Math.max(MIN_PROBABILITY, probability));
	return Math.log(bounded / (1 - bounded));
}
