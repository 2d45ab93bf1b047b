import { percentileOf } from '../load/spread.ts';
import { type Figure, type Goal, once } from '../report/figure.ts';
import type { Outcome } from './judge.ts';
import type { JudgedAnswer } from './judged-sets.ts';
import { QUESTION_KINDS } from './question-sets.ts';

const atLeast = (bound: number): Goal => ({ is: 'at least', bound });
const atMost = (bound: number): Goal => ({ is: 'at most', bound });

/** A share as a figure in per cent; no figure without cases. */
export function shareFigure(name: string, count: number, of: number, goal?: Goal, remark = ''): Figure[] {
	if (of === 0) return [];
	const value = once((100 * count) / of);
	return [{ name, unit: '%', value, remark: `${count} of ${of}${remark}`, ...(goal === undefined ? {} : { goal }) }];
}

/** Median and 90th percentile of the lengths of replies, in characters. */
export function lengthFigures(name: string, replies: readonly string[]): Figure[] {
	if (replies.length === 0) return [];
	const lengths = replies.map((content) => content.length);
	const figure = (part: string, share: number, goal: Goal): Figure => ({
		name: `${name}: reply length, ${part}`,
		unit: '',
		value: once(percentileOf(lengths, share)),
		goal,
		remark: `characters, of ${lengths.length} answers`,
	});
	return [figure('median', 0.5, atMost(220)), figure('90th percentile', 0.9, atMost(450))];
}

/**
 * The figures of judged answers. Answerable and unanswerable questions are counted apart; the share of wrong answers is of all
 * answers that were given, to either.
 * @param name begins the name of each figure
 */
export function setFigures(name: string, answers: readonly JudgedAnswer[]): Figure[] {
	const answerable = answers.filter(({ question }) => question.answerable);
	const unanswerable = answers.filter(({ question }) => !question.answerable);
	const single = answerable.filter(({ question }) => question.history.length === 0);
	const followUps = answerable.filter(({ question }) => question.history.length > 0);
	const given = answers.filter(({ judgement }) => !judgement.isRefusal);
	const isWrong = ({ judgement: { outcome } }: JudgedAnswer) => outcome === 'wrong' || outcome === 'mixed';
	const onTopic = unanswerable.filter(({ question }) => question.on_topic);
	const foreign = unanswerable.filter(({ question }) => !question.on_topic);
	return [
		...rightFigure(`${name}: single questions right`, single, atLeast(85)),
		...rightFigure(`${name}: follow-ups right`, followUps, atLeast(75)),
		...refusalFigure(`${name}: unanswerable refused`, unanswerable, atLeast(92)),
		...refusalFigure(`${name}: unanswerable refused, on topic`, onTopic),
		...refusalFigure(`${name}: unanswerable refused, foreign`, foreign, atLeast(97)),
		...shareFigure(`${name}: wrong among given answers`, given.filter(isWrong).length, given.length, atMost(5)),
		...lengthFigures(
			name,
			given.filter(({ question }) => question.answerable).map(({ reply }) => reply.content),
		),
		...groupFigures(name, 'language', answers, ({ question }) => question.language),
		...groupFigures(name, 'set', answers, ({ set }) => set),
		...QUESTION_KINDS.flatMap((kind) =>
			rightFigure(
				`${name}: kind ${kind}, right`,
				answerable.filter(({ question }) => question.kind === kind),
			),
		),
	];
}

/** For each group two figures: answerable questions right, unanswerable ones refused. */
function groupFigures(
	name: string,
	label: string,
	answers: readonly JudgedAnswer[],
	groupOf: (answer: JudgedAnswer) => string,
): Figure[] {
	return [...new Set(answers.map(groupOf))].sort().flatMap((group) => {
		const of = answers.filter((answer) => groupOf(answer) === group);
		return [
			...rightFigure(
				`${name}: ${label} ${group}, right`,
				of.filter(({ question }) => question.answerable),
			),
			...refusalFigure(
				`${name}: ${label} ${group}, unanswerable refused`,
				of.filter(({ question }) => !question.answerable),
			),
		];
	});
}

function rightFigure(name: string, answers: readonly JudgedAnswer[], goal?: Goal): Figure[] {
	const count = (outcome: Outcome) => answers.filter(({ judgement }) => judgement.outcome === outcome).length;
	const others = `; ${count('mixed')} mixed, ${count('wrong')} wrong, ${count('refused')} refused`;
	return shareFigure(name, count('right'), answers.length, goal, others);
}

function refusalFigure(name: string, answers: readonly JudgedAnswer[], goal?: Goal): Figure[] {
	const refused = answers.filter(({ judgement }) => judgement.outcome === 'right').length;
	return shareFigure(name, refused, answers.length, goal);
}
