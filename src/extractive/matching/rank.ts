import type { Question } from '../question/question.ts';
import type { Candidate } from './candidate.ts';
import type { Source } from './source.ts';
import { tableCandidates } from './table-candidates.ts';
import { type TermSpace, termSpaceOf } from './term-space.ts';
import { unitCandidates } from './unit-candidates.ts';

/** The share of the score that the passage's score in the search decides. */
const PASSAGE_SCORE_WEIGHT = 0.6;

/** All parts of the passages that may answer, best first. Passages in languages in which the question has no terms have none. */
export function* rankCandidates(question: Question, sources: readonly Source[]): Generator<void, Candidate[]> {
	const candidates: Candidate[] = [];
	const best = Math.max(...sources.map(({ passage }) => passage.score), Number.EPSILON);
	for (const language of new Set(sources.map(({ reading }) => reading.language))) {
		const own = sources.filter(({ reading }) => reading.language === language);
		const space: TermSpace = yield* termSpaceOf(question, own, language);
		yield;
		if (space.terms.length === 0) continue;
		for (const source of own) {
			const factor = 1 - PASSAGE_SCORE_WEIGHT + PASSAGE_SCORE_WEIGHT * Math.max(0, source.passage.score / best);
			const add = (found: readonly Candidate[]) => {
				for (const candidate of found) {
					candidate.score *= factor;
					if (isRelated(candidate)) candidates.push(candidate);
				}
			};
			add(yield* unitCandidates(space, source));
			yield;
			for (const table of source.reading.tables) {
				add(yield* tableCandidates(space, source, table));
				yield;
			}
		}
	}
	return candidates.sort((a, b) => b.score - a.score);
}

/** Whether it or its context has a word of the question (of the messages before, if this one has no words of its own). */
function isRelated({ space, all, score, hasCodes }: Candidate): boolean {
	if (score <= 0 || !hasCodes) return false;
	const onlyCarried = space.terms.every(({ isCarriedOver }) => isCarriedOver);
	return space.terms.some(({ isCarriedOver }, i) => (onlyCarried || !isCarriedOver) && (all[i] as number) > 0);
}
