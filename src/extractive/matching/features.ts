import type { AnswerType } from '../question/answer-type-cues.ts';
import { isNegated } from '../question/negation.ts';
import type { Candidate } from './candidate.ts';
import { type Matches, type TermSpace, weightedShare } from './term-space.ts';

/** A term with a lower match is not in the candidate. */
const MATCHED = 0.5;
/** Function words and words such as `need` weigh less. */
const MIN_CONTENT_WEIGHT = 0.5;
/** Values of these types have a form that cannot be missed. */
const STRICT_TYPES: ReadonlySet<AnswerType> = new Set(['phone', 'email', 'price', 'person', 'age']);
/** Below this confidence the search hardly found anything. */
const LOW_CONFIDENCE = 0.2;
const MAX_LOG_SCORE = 2;
/** A value whose names lack a word with about half of the question's weight is about something else: `the capital of France`. */
const HALF_MISSING = 0.45;

/** What orders the candidates of one question. Each value is between -1 and 1. */
export const RANKING_FEATURES = [
	'score',
	'passage',
	'rank',
	'own',
	'all',
	'exact',
	'missing',
	'missingName',
	'factMissingName',
	'count',
	'type',
	'typeMissing',
	'strictTypeMissing',
	'labelFit',
	'topicFit',
	'carried',
	'table',
	'wholeRow',
	'rows',
	'rowsMissing',
	'pair',
	'item',
	'dependent',
	'long',
] as const;
export type RankingFeature = (typeof RANKING_FEATURES)[number];

/** The evidence that a candidate answers. Each value is between -1 and 1. */
export const EVIDENCE_FEATURES = [
	'own',
	'all',
	'exact',
	'missing',
	'missingCount',
	'absent',
	'absentCount',
	'missingName',
	'factMissingName',
	'single',
	'two',
	'type',
	'typeMissing',
	'strictTypeMissing',
	'untyped',
	'labelFit',
	'topicFit',
	'code',
	'carried',
	'onlyCarried',
	'table',
	'wholeRow',
	'pair',
	'sentence',
	'confidence',
	'lowConfidence',
	'passage',
	'margin',
	'length',
	'sentenceAll',
	'sentenceMissing',
	'sentenceMissingCount',
	'sentenceAbsent',
	'sentenceConfidence',
	'untypedFactMissing',
	'factTypeMissing',
	'factStrictTypeMissing',
	'wholeRowTypeMissing',
	'rows',
	'rowsMissing',
	'count',
	'yesNo',
	'yesNoMissing',
	'negation',
	'denied',
	'onlyType',
	'onlyTypeFound',
] as const;
export type EvidenceFeature = (typeof EVIDENCE_FEATURES)[number];

/** How the best candidate compares with the others, by the trained order: its share (softmax), and its lead over the next one. */
export const CHOICE_FEATURES = ['choice', 'lead'] as const;
export type ChoiceFeature = (typeof CHOICE_FEATURES)[number];

/** What decides whether the best candidate answers. */
export const ANSWER_FEATURES = [...EVIDENCE_FEATURES, ...CHOICE_FEATURES] as const;
export type AnswerFeature = (typeof ANSWER_FEATURES)[number];

/** The evidence of the words of a question in a candidate. */
interface WordEvidence {
	own: number;
	all: number;
	exact: number;
	/** The largest share of a content word that is missing. */
	missing: number;
	missingCount: number;
	/** The same for words that no passage has. */
	absent: number;
	absentCount: number;
	contentWords: number;
	lacksName: boolean;
	carried: number;
	/** The message has no words but those that ask for a type of answer: `phone number?` */
	isOnlyType: boolean;
	/** The message names nothing, so it is about what was named before. */
	isOnlyCarried: boolean;
}

/** @param best the highest score and the highest score of a passage among the candidates of the question */
export function rankingFeatures(
	candidate: Candidate,
	best: { score: number; passageScore: number },
): Record<RankingFeature, number> {
	const words = wordEvidence(candidate);
	const { part, source, labelFit, topicFit } = candidate;
	const selection = 'selection' in part ? part.selection : null;
	const unit = 'unit' in part ? part.unit : null;
	return {
		score: 1 + Math.max(-MAX_LOG_SCORE, Math.log(candidate.score / best.score)) / MAX_LOG_SCORE,
		passage: passageShare(candidate, best.passageScore),
		rank: 1 / source.passage.index,
		own: words.own,
		all: words.all,
		exact: words.exact,
		missing: words.missing,
		missingName: words.lacksName ? 1 : 0,
		factMissingName: words.lacksName && unit?.kind !== 'sentence' ? 1 : 0,
		count: hasCount(candidate) ? 1 : 0,
		...typeEvidence(candidate),
		labelFit,
		topicFit,
		carried: words.isOnlyCarried ? 0 : words.carried,
		table: selection ? 1 : 0,
		wholeRow: selection?.isWholeRow && selection.columns.length > 1 ? 1 : 0,
		rows: selection ? Math.min(1, (selection.rows.length - 1) / 4) : 0,
		rowsMissing: selection && selection.rows.length > 1 ? words.missing : 0,
		pair: unit?.kind === 'pair' ? 1 : 0,
		item: unit?.kind === 'item' ? 1 : 0,
		dependent: unit?.isDependent ? 1 : 0,
		long: unit ? Math.min(1, unit.words / 50) : 0,
	};
}

/**
 * @param candidates all compared ones of the question
 * @param confidence that of the search
 */
export function evidenceFeatures(
	candidate: Candidate,
	candidates: readonly Candidate[],
	confidence: number,
): Record<EvidenceFeature, number> {
	const words = wordEvidence(candidate);
	const { part, space, labelFit, topicFit } = candidate;
	const selection = 'selection' in part ? part.selection : null;
	const unit = 'unit' in part ? part.unit : null;
	const others = candidates.filter((other) => other !== candidate && !isSamePlace(other, candidate));
	const next = Math.max(0, ...others.map(({ score }) => score));
	const passageScore = Math.max(...candidates.map(({ source }) => source.passage.score));
	const types = typeEvidence(candidate);
	// Prose needs fewer of the words: a sentence leaves out what the text has named before.
	const sentence = unit?.kind === 'sentence' ? 1 : 0;
	const rows = selection ? Math.min(1, (selection.rows.length - 1) / 4) : 0;
	const isWholeRow = selection?.isWholeRow && selection.columns.length > 1 ? 1 : 0;
	const { question } = space;
	const yesNo = question.isYesNo ? 1 : 0;
	const text = textOf(candidate);
	return {
		own: words.own,
		all: words.all,
		exact: words.exact,
		missing: words.missing,
		missingCount: Math.min(1, words.missingCount / 3),
		absent: words.absent,
		absentCount: Math.min(1, words.absentCount / 3),
		missingName: words.lacksName ? 1 : 0,
		factMissingName: words.lacksName && unit?.kind !== 'sentence' ? 1 : 0,
		single: words.contentWords <= 1 ? 1 : 0,
		two: words.contentWords === 2 ? 1 : 0,
		...types,
		untyped: candidate.hasType === null ? 1 : 0,
		labelFit,
		topicFit,
		code: space.question.codes.length > 0 ? 1 : 0,
		carried: words.isOnlyCarried ? 0 : words.carried,
		onlyCarried: words.isOnlyCarried ? 1 : 0,
		table: selection ? 1 : 0,
		wholeRow: selection?.isWholeRow && selection.columns.length > 1 ? 1 : 0,
		pair: unit?.kind === 'pair' ? 1 : 0,
		sentence,
		confidence,
		lowConfidence: Math.max(0, LOW_CONFIDENCE - confidence) / LOW_CONFIDENCE,
		passage: passageShare(candidate, passageScore),
		margin: Math.max(-1, 1 - next / candidate.score),
		length: Math.min(1, words.contentWords / 10),
		sentenceAll: sentence * words.all,
		sentenceMissing: sentence * words.missing,
		sentenceMissingCount: sentence * Math.min(1, words.missingCount / 3),
		sentenceAbsent: sentence * words.absent,
		sentenceConfidence: sentence * confidence,
		untypedFactMissing: candidate.hasType ? 0 : (1 - sentence) * Math.max(0, words.missing - HALF_MISSING),
		factTypeMissing: (1 - sentence) * types.typeMissing,
		factStrictTypeMissing: (1 - sentence) * types.strictTypeMissing,
		wholeRowTypeMissing: isWholeRow * types.typeMissing,
		rows,
		rowsMissing: rows > 0 ? words.missing : 0,
		count: hasCount(candidate) ? 1 : 0,
		yesNo,
		yesNoMissing: yesNo * words.missing,
		negation: question.isNegated && !isNegated(text) ? 1 : 0,
		denied: yesNo * (isNegated(text) ? 1 : 0),
		onlyType: words.isOnlyType ? 1 : 0,
		onlyTypeFound: words.isOnlyType ? types.type : 0,
	};
}

function typeEvidence({ hasType, space }: Candidate): Record<'type' | 'typeMissing' | 'strictTypeMissing', number> {
	const isStrict = [...space.question.answerTypes].some((type) => STRICT_TYPES.has(type));
	return {
		type: hasType ? 1 : 0,
		typeMissing: hasType === false ? 1 : 0,
		strictTypeMissing: hasType === false && isStrict ? 1 : 0,
	};
}

function passageShare({ source }: Candidate, best: number): number {
	return Math.max(0, source.passage.score / Math.max(best, Number.EPSILON));
}

/** Whether two candidates are cells of one row, or neighbours of one paragraph. */
function isSamePlace(a: Candidate, b: Candidate): boolean {
	if (a.source !== b.source) return false;
	if ('unit' in a.part && 'unit' in b.part) return a.part.unit.block === b.part.unit.block;
	return false;
}

function wordEvidence({ space, own, all }: Pick<Candidate, 'space' | 'own' | 'all'>): WordEvidence {
	const { terms } = space;
	const isOnlyCarried = !terms.some(
		({ asksFor, weight, isCarriedOver }) => !isCarriedOver && asksFor.length === 0 && weight >= MIN_CONTENT_WEIGHT,
	);
	// The words that ask for a type of answer are evidence only where there is nothing else.
	const counts = (i: number) => isOnlyCarried || !terms[i]?.isCarriedOver;
	const named = space.subject.map((weight, i) => (counts(i) && terms[i]?.asksFor.length === 0 ? weight : 0));
	const subject = named.some((weight) => weight > 0)
		? named
		: space.subject.map((weight, i) => (counts(i) ? weight : 0));
	const total = sumOf(subject) || 1;
	const isContent = (i: number) => (subject[i] as number) > 0 && (terms[i]?.weight ?? 0) >= MIN_CONTENT_WEIGHT;
	const missing = subject.map((weight, i) => ((all[i] as number) < MATCHED ? weight / total : 0));
	const absent = missing.map((share, i) => (space.isKnown[i] ? 0 : share));
	return {
		own: weightedShare(own, subject),
		all: weightedShare(all, subject),
		exact: weightedShare(onlyExact(all), subject),
		missing: Math.max(0, ...missing),
		missingCount: missing.filter((share, i) => share > 0 && isContent(i)).length,
		absent: Math.max(0, ...absent),
		absentCount: absent.filter((share, i) => share > 0 && isContent(i)).length,
		contentWords: subject.filter((_, i) => isContent(i)).length,
		lacksName: terms.some(({ isName }, i) => isName && (all[i] as number) < MATCHED),
		carried: carriedShare(space, all),
		isOnlyType: isOnlyCarried && !terms.some(({ isCarriedOver }) => isCarriedOver) && terms.length > 0,
		isOnlyCarried,
	};
}

/** Whether it has a number of the things that the question asks the number of: `45 days` for `how many days`. */
function hasCount({ part, space }: Candidate): boolean {
	return 'unit' in part && (space.question.countPattern?.test(part.unit.text) ?? false);
}

/** The text that it shows, with its names. */
function textOf({ part }: Candidate): string {
	if ('unit' in part) return `${part.unit.label} ${part.unit.text}`;
	const { table, rows, columns } = part.selection;
	const names = columns.map((column) => table.header?.[column]?.text ?? '');
	const shown = rows.flatMap((row) =>
		(table.rows[row] ?? []).filter((_, at) => at < table.labelColumns || columns.includes(at)),
	);
	return [...names, ...shown.map(({ text }) => text)].join(' ');
}

function carriedShare({ terms, subject }: TermSpace, all: Matches): number {
	return weightedShare(
		all,
		subject.map((weight, i) => (terms[i]?.isCarriedOver ? weight : 0)),
	);
}

function onlyExact(matches: Matches): number[] {
	return matches.map((match) => (match >= 1 ? 1 : 0));
}

function sumOf(values: readonly number[]): number {
	return values.reduce((sum, value) => sum + value, 0);
}
