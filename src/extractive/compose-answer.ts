import { dayNameOf } from './composing/day-name.ts';
import { nearestTopics } from './composing/nearest-topics.ts';
import { PHRASES } from './composing/phrases.ts';
import { render } from './composing/render.ts';
import { selectParts } from './composing/select-parts.ts';
import { isProbableEnough, probabilityOf } from './matching/answer-model.ts';
import type { Candidate } from './matching/candidate.ts';
import { exceptionsFirst } from './matching/exceptions.ts';
import { answerFeatures } from './matching/features.ts';
import { orderByEvidence } from './matching/order-candidates.ts';
import { rankCandidates } from './matching/rank.ts';
import type { Source } from './matching/source.ts';
import { readQuestion } from './question/question.ts';
import { courtesyOf } from './question/small-talk.ts';
import { mostFrequent } from './reading/languages.ts';
import { readPassage } from './reading/read-passage.ts';
import type { ExtractiveRequest, QuotablePassage } from './request.ts';

/** Up to this confidence of the search, a word that a passage shares with the question is shared by chance. */
const MIN_CONFIDENCE = 0.05;

/** A part that, with its headings, has a smaller share of what the question names is about something else. */
const MIN_COVERAGE = 0.2;

/** A value whose names lack a word with this share of the question is about something else: `the capital of France`. */
const MAX_MISSING_IN_FACT = 0.45;

/** Composes the answer in Markdown. Yields between its steps, so that other work can run. */
export function* composeAnswer(request: ExtractiveRequest, sources: readonly Source[]): Generator<void, string> {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostFrequent(sources.map(({ reading }) => reading.language)));
	const phrases = PHRASES[question.language];
	if (request.search_failed) return phrases.searchFailed;
	yield;
	const ranked =
		request.confidence > MIN_CONFIDENCE
			? exceptionsFirst(orderByEvidence(yield* rankCandidates(question, sources)))
			: [];
	const [best] = ranked;
	if (best && isAnswer(best, ranked, request)) {
		const parts = selectParts(ranked, question);
		return render(parts, { name: dayNameOf(best, question.language), weekday: question.day?.weekday ?? null });
	}
	return [phrases.nothingFound, nearestTopics(ranked, request.confidence, phrases)]
		.filter((line) => line !== '')
		.join(' ');
}

function isAnswer(
	best: Candidate,
	ranked: readonly Candidate[],
	{ confidence, min_confidence = null }: ExtractiveRequest,
): boolean {
	const features = answerFeatures(best, ranked, confidence);
	const isFact = features.sentence === 0;
	if (isFact && features.type === 0 && features.missing >= MAX_MISSING_IN_FACT) return false;
	const probability = probabilityOf(features);
	const isProbable = min_confidence === null ? isProbableEnough(probability, !isFact) : probability >= min_confidence;
	return features.all >= MIN_COVERAGE && isProbable;
}

/** Reads one passage. Yields between its blocks, so that other work can run. */
export function* readSource(passage: QuotablePassage, language: string | null): Generator<void, Source> {
	return { passage, reading: yield* readPassage(passage, language) };
}
