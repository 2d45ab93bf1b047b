import { type NamedMember, namedMember } from './composing/closed-lists.ts';
import { dayNameOf } from './composing/day-name.ts';
import { escapeMarkdown } from './composing/markdown.ts';
import { nearestTopics } from './composing/nearest-topics.ts';
import { PHRASES } from './composing/phrases.ts';
import { render } from './composing/render.ts';
import { type AnswerPart, selectParts } from './composing/select-parts.ts';
import { isProbableEnough, probabilityOf } from './matching/answer-model.ts';
import type { Candidate } from './matching/candidate.ts';
import { orderByDay } from './matching/exceptions.ts';
import { evidenceFeatures } from './matching/features.ts';
import { choiceFeatures, orderByEvidence } from './matching/order-candidates.ts';
import { rankCandidates } from './matching/rank.ts';
import type { Source } from './matching/source.ts';
import { type Question, readQuestion } from './question/question.ts';
import { courtesyOf } from './question/small-talk.ts';
import { mostFrequent } from './reading/languages.ts';
import { readPassage } from './reading/read-passage.ts';
import type { ExtractiveRequest, QuotablePassage } from './request.ts';

/** Up to this confidence of the search, a word that a passage shares with the question is shared by chance. */
const MIN_CONFIDENCE = 0.05;

/** A part that, with its headings, has a smaller share of what the question names is about something else. */
const MIN_COVERAGE = 0.2;

/** An answer in Markdown, and whether it says that the passages have no answer. */
export interface ComposedAnswer {
	text: string;
	isRefusal: boolean;
}

/** Composes the answer. Yields between its steps, so that other work can run. */
export function* composeAnswer(
	request: ExtractiveRequest,
	sources: readonly Source[],
): Generator<void, ComposedAnswer> {
	const courtesy = courtesyOf(request.question);
	if (courtesy) return { text: PHRASES[courtesy.language][courtesy.kind], isRefusal: false };
	const language = mostFrequent(sources.map(({ reading }) => reading.language));
	const question = readQuestion(request, language);
	const phrases = PHRASES[question.language];
	if (request.search_failed) return { text: phrases.searchFailed, isRefusal: true };
	yield;
	const first = yield* answerOf(question, request, sources);
	const answers = [first.text];
	for (let dayAt = 1; dayAt < question.dayCount; dayAt++)
		answers.push((yield* answerOf(readQuestion(request, language, dayAt), request, sources)).text);
	const found = answers.filter((text) => text !== null);
	if (found.length > 0) return { text: [...new Set(found)].join('\n\n'), isRefusal: false };
	const lines = [phrases.nothingFound, nearestTopics(first.ranked, request.confidence, phrases)];
	return { text: lines.filter((line) => line !== '').join(' '), isRefusal: true };
}

/** The answer to a question about at most one day; null if nothing answers it. */
function* answerOf(
	question: Question,
	request: ExtractiveRequest,
	sources: readonly Source[],
): Generator<void, { text: string | null; ranked: readonly Candidate[] }> {
	const ordered = request.confidence > MIN_CONFIDENCE ? orderByEvidence(yield* rankCandidates(question, sources)) : [];
	const utilities = ordered.map(({ utility }) => utility);
	const { ranked, beside } = orderByDay(ordered.map(({ candidate }) => candidate));
	const named = yield* namedMember(question, ranked);
	if (named?.kind === 'unlisted') return { text: unlistedText(named, question, request), ranked };
	const answering = named === null ? ranked : [named.candidate, ...ranked.filter((other) => other !== named.candidate)];
	const [best] = answering;
	if (!best || !isAnswer(best, ranked, utilities, request)) return { text: null, ranked };
	const parts = selectParts(answering, question);
	if (beside !== null && named === null && !parts.some((part) => shows(part, beside)))
		parts.splice(1, 0, ...selectParts([beside], question).slice(0, 1));
	const day = { name: dayNameOf(best, question.language), weekday: question.day?.weekday ?? null };
	return { text: render(parts, day), ranked };
}

/** Says what a list has instead. It has no probability, so an operator who asks for one gets a refusal: null. */
function unlistedText(
	{ asked, listed, source }: Extract<NamedMember, { kind: 'unlisted' }>,
	{ language }: Question,
	{ min_confidence = null }: ExtractiveRequest,
): string | null {
	if (min_confidence !== null) return null;
	const { separator, notListed } = PHRASES[language];
	return `${notListed(escapeMarkdown(asked), listed.map(escapeMarkdown).join(separator))} [${source.passage.index}]`;
}

function shows(part: AnswerPart, { part: shown }: Candidate): boolean {
	return 'units' in part && 'unit' in shown && part.units.includes(shown.unit);
}

function isAnswer(
	best: Candidate,
	candidates: readonly Candidate[],
	utilities: readonly number[],
	{ confidence, min_confidence = null }: ExtractiveRequest,
): boolean {
	const evidence = evidenceFeatures(best, candidates, confidence);
	const probability = probabilityOf({ ...evidence, ...choiceFeatures(utilities) });
	const isProbable =
		min_confidence === null ? isProbableEnough(probability, evidence.sentence === 1) : probability >= min_confidence;
	return evidence.all >= MIN_COVERAGE && isProbable;
}

/** Reads one passage. Yields between its blocks, so that other work can run. */
export function* readSource(passage: QuotablePassage, language: string | null): Generator<void, Source> {
	return { passage, reading: yield* readPassage(passage, language) };
}
