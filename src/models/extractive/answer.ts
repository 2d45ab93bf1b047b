import type { ChatRequest, Passage } from '../chat-model.ts';
import { mostOf } from './languages.ts';
import { PHRASES } from './phrases.ts';
import { readQuestion } from './question.ts';
import { readPassage } from './reading.ts';
import { render } from './rendering.ts';
import { type ScoredUnit, type Source, scoreUnits } from './scoring.ts';
import { select } from './selection.ts';
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
const WITNESSES = 8;

/** The extractive model's answer, in Markdown. */
export function answer(request: ChatRequest, sources: readonly Source[]): string {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return PHRASES[courtesy.language][courtesy.kind];
	const question = readQuestion(request, mostOf(sources.map(({ read }) => read.language)));
	if (request.search_failed) return PHRASES[question.language].searchFailed;
	const scored = request.confidence >= MIN_CONFIDENCE ? scoreUnits(question, sources) : [];
	const quotations = isAnswered(scored) ? select(scored, question.wants) : [];
	return quotations.length > 0 ? render(quotations, question.language) : PHRASES[question.language].nothingFound;
}

/** Reads one passage of a request. Split from `answer`, so that other work can run between two passages. */
export function readSource(passage: Passage, language: string | null): Source {
	return { passage, read: readPassage(passage, language) };
}

function isAnswered(scored: readonly ScoredUnit[]): boolean {
	const best = scored
		.filter((one) => one.shares)
		.sort((a, b) => b.score - a.score)
		.slice(0, WITNESSES);
	return best.some((one) => one.evidence >= MIN_EVIDENCE);
}
