import { nearestTopics } from './composing/nearest-topics.ts';
import { PHRASES } from './composing/phrases.ts';
import { render } from './composing/render.ts';
import { selectParts } from './composing/select-parts.ts';
import type { Candidate } from './matching/candidate.ts';
import { featuresOf } from './matching/features.ts';
import { probabilityOf, THRESHOLD } from './matching/probability.ts';
import { rankCandidates } from './matching/rank.ts';
import type { Source } from './matching/source.ts';
import { readQuestion } from './question/question.ts';
import { courtesyOf } from './question/small-talk.ts';
import { mostFrequent } from './reading/languages.ts';
import { readPassage } from './reading/read-passage.ts';
import type { ExtractiveRequest, QuotablePassage } from './request.ts';

/** Below this confidence of the search, a word that a passage shares with the question is shared by chance. */
const MIN_CONFIDENCE = 0.05;
/** Below this confidence the best hit hardly matches, so an answer needs more evidence. */
const LOW_CONFIDENCE = 0.2;
const LOW_CONFIDENCE_THRESHOLD = 0.75;

/** Only the best parts are compared by their evidence. */
const MAX_COMPARED = 24;
/** How much the probability counts beside the score, as its power. */
const PROBABILITY_POWER = 0.25;

/** Composes the answer in Markdown. Yields between its steps, so that other work can run. */
export function* composeAnswer(request: ExtractiveRequest, sources: readonly Source[]): Generator<void, string> {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostFrequent(sources.map(({ reading }) => reading.language)));
	const phrases = PHRASES[question.language];
	if (request.search_failed) return phrases.searchFailed;
	yield;
	const ranked = request.confidence > MIN_CONFIDENCE ? byEvidence(yield* rankCandidates(question, sources)) : [];
	const [best] = ranked;
	const threshold = request.confidence >= LOW_CONFIDENCE ? THRESHOLD : LOW_CONFIDENCE_THRESHOLD;
	if (best && probabilityOf(featuresOf(best)) >= threshold) return render(selectParts(ranked, question));
	return [phrases.nothingFound, nearestTopics(ranked, request.confidence, phrases)]
		.filter((line) => line !== '')
		.join(' ');
}

/** The best parts, ordered by their score and their probability. */
function byEvidence(ranked: readonly Candidate[]): Candidate[] {
	return ranked
		.slice(0, MAX_COMPARED)
		.map((candidate) => ({
			...candidate,
			score: candidate.score * probabilityOf(featuresOf(candidate)) ** PROBABILITY_POWER,
		}))
		.sort((a, b) => b.score - a.score);
}

/** Reads one passage. Yields between its blocks, so that other work can run. */
export function* readSource(passage: QuotablePassage, language: string | null): Generator<void, Source> {
	return { passage, reading: yield* readPassage(passage, language) };
}
