import type { Candidate } from './candidate.ts';
import { weightedShare } from './term-space.ts';

/** A term with a lower match is not in the candidate. */
const MATCHED = 0.5;

/** The evidence that a candidate answers the question. Each value is between -1 and 1. */
export const FEATURES = [
	'own',
	'all',
	'exact',
	'missing',
	'missingName',
	'factMissingName',
	'matched',
	'single',
	'type',
	'typeMissing',
	'labelFit',
	'topicFit',
	'code',
	'carried',
	'table',
	'pair',
] as const;
export type Feature = (typeof FEATURES)[number];

/** The evidence of a candidate. */
export function featuresOf(candidate: Candidate): Record<Feature, number> {
	const { space, own, all, hasType, labelFit, topicFit, part } = candidate;
	const isOwn = space.terms.map(({ isCarriedOver }) => !isCarriedOver);
	// A message that names nothing is about what was named before.
	const onlyCarried = !space.terms.some(
		({ asksFor, weight, isCarriedOver }) => !isCarriedOver && asksFor.length === 0 && weight >= 0.5,
	);
	const subject = space.subject.map((weight, i) => (onlyCarried || isOwn[i] ? weight : 0));
	const total = subject.reduce((sum, weight) => sum + weight, 0) || 1;
	const missing = subject.map((weight, i) => ((all[i] as number) < MATCHED ? weight / total : 0));
	const content = space.terms.filter(
		({ asksFor, weight }, i) => (subject[i] as number) > 0 && asksFor.length === 0 && weight >= 0.3,
	);
	const matched = space.terms.filter(
		({ asksFor }, i) => (subject[i] as number) > 0 && asksFor.length === 0 && (all[i] as number) >= MATCHED,
	).length;
	const carried = space.subject.map((weight, i) => (isOwn[i] ? 0 : weight));
	const lacksName = space.terms.some(({ isName }, i) => isName && (all[i] as number) < MATCHED);
	// A cell or a key with its value is about one thing; sentences may name it elsewhere.
	const isFact = 'selection' in part || part.unit.kind === 'pair';
	return {
		own: weightedShare(own, subject),
		all: weightedShare(all, subject),
		exact: weightedShare(
			all.map((match) => (match >= 1 ? 1 : 0)),
			subject,
		),
		missing: Math.max(0, ...missing),
		missingName: lacksName ? 1 : 0,
		factMissingName: lacksName && isFact ? 1 : 0,
		matched: Math.min(1, matched / 3),
		single: content.length <= 1 ? 1 : 0,
		type: hasType ? 1 : 0,
		typeMissing: hasType === false ? 1 : 0,
		labelFit,
		topicFit,
		code: space.question.codes.length > 0 ? 1 : 0,
		carried: onlyCarried ? 0 : weightedShare(all, carried),
		table: 'selection' in part ? 1 : 0,
		pair: 'unit' in part && part.unit.kind === 'pair' ? 1 : 0,
	};
}
