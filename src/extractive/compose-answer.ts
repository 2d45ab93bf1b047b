import { nearestTopics } from './composing/nearest-topics.ts';
import { PHRASES } from './composing/phrases.ts';
import { render } from './composing/render.ts';
import { selectParts } from './composing/select-parts.ts';
import { featuresOf } from './matching/features.ts';
import { probabilityOf, THRESHOLD } from './matching/probability.ts';
import { rankCandidates } from './matching/rank.ts';
import type { Source } from './matching/source.ts';
import { readQuestion } from './question/question.ts';
import { courtesyOf } from './question/small-talk.ts';
import { mostFrequent } from './reading/languages.ts';
import { readPassage } from './reading/read-passage.ts';
import type { ExtractiveRequest, QuotablePassage } from './request.ts';

/**
 * Below this confidence the best hit of the search hardly matches, so a word that it shares with the question is shared by
 * chance.
 */
const MIN_CONFIDENCE = 0.2;

/** Composes the answer in Markdown. Yields between its steps, so that other work can run. */
export function* composeAnswer(request: ExtractiveRequest, sources: readonly Source[]): Generator<void, string> {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostFrequent(sources.map(({ reading }) => reading.language)));
	const phrases = PHRASES[question.language];
	if (request.search_failed) return phrases.searchFailed;
	yield;
	const ranked = request.confidence >= MIN_CONFIDENCE ? yield* rankCandidates(question, sources) : [];
	const [best] = ranked;
	if (best && probabilityOf(featuresOf(best)) >= THRESHOLD) return render(selectParts(ranked, question));
	return [phrases.nothingFound, nearestTopics(ranked, request.confidence, phrases)]
		.filter((line) => line !== '')
		.join(' ');
}

/** Reads one passage. It is separate from `composeAnswer`, so that other work can run between two passages. */
export function readSource(passage: QuotablePassage, language: string | null): Source {
	return { passage, reading: readPassage(passage, language) };
}
