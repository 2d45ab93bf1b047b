import { analysePassage } from './analyse-passage.ts';
import { mostFrequent } from './languages.ts';
import { PHRASES } from './phrases.ts';
import { readQuestion } from './question.ts';
import { render } from './rendering.ts';
import type { ExtractiveRequest, QuotablePassage } from './request.ts';
import { type ScoredUnit, type Source, scoreUnits } from './scoring.ts';
import { selectQuotations } from './selection.ts';
import { courtesyOf } from './small-talk.ts';

/**
 * Below this the search itself says that its best hit hardly matches: whatever shares a word with the question then
 * does so by chance.
 */
const MIN_CONFIDENCE = 0.2;

/**
 * The share of the question, by weight, that the best sentences and their surroundings must speak of. A third lets a
 * question put one thing in two words that the document does not use; questions about something else share less.
 */
const MIN_EVIDENCE = 0.34;

/** How many of the best units may bring the evidence: the very best by form may stand beside the one that names it. */
const MAX_EVIDENCE_UNITS = 8;

/** The extractive model's answer, in Markdown. */
export function composeAnswer(request: ExtractiveRequest, sources: readonly Source[]): string {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostFrequent(sources.map(({ analysis }) => analysis.language)));
	if (request.search_failed) return PHRASES[question.language].searchFailed;
	const scored = request.confidence >= MIN_CONFIDENCE ? scoreUnits(question, sources) : [];
	const quotations = hasEvidence(scored) ? selectQuotations(scored, question.answerTypes) : [];
	return quotations.length > 0 ? render(quotations, question.language) : PHRASES[question.language].nothingFound;
}

/** Reads one passage of a request. Split from `answer`, so that other work can run between two passages. */
export function analyseSource(passage: QuotablePassage, language: string | null): Source {
	return { passage, analysis: analysePassage(passage, language) };
}

function hasEvidence(scored: readonly ScoredUnit[]): boolean {
	const topUnits = scored
		.filter((one) => one.sharesTerm)
		.sort((a, b) => b.score - a.score)
		.slice(0, MAX_EVIDENCE_UNITS);
	return topUnits.some((one) => one.evidence >= MIN_EVIDENCE);
}
