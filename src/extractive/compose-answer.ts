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
 * Below this confidence the best hit of the search hardly matches, so a word that it shares with the question is shared by
 * chance.
 */
const MIN_CONFIDENCE = 0.2;

/**
 * The share of the question, by weight, that the best sentences and their context must contain. With a third, a question may
 * name one thing in two words that the document does not use. Questions about something else share less.
 */
const MIN_EVIDENCE = 0.34;

/** How many of the best units may have the evidence: the unit with the best form may be next to the unit with the words. */
const MAX_EVIDENCE_UNITS = 8;

/** Composes the answer in Markdown. */
export function composeAnswer(request: ExtractiveRequest, sources: readonly Source[]): string {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostFrequent(sources.map(({ analysis }) => analysis.language)));
	if (request.search_failed) return PHRASES[question.language].searchFailed;
	const scored = request.confidence >= MIN_CONFIDENCE ? scoreUnits(question, sources) : [];
	const quotations = hasEvidence(scored) ? selectQuotations(scored, question.answerTypes) : [];
	return quotations.length > 0 ? render(quotations, question.language) : PHRASES[question.language].nothingFound;
}

/** Analyses one passage. It is separate from `composeAnswer`, so that other work can run between two passages. */
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
