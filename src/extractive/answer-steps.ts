import { type ComposedAnswer, composeAnswer, readSource } from './compose-answer.ts';
import type { Source } from './matching/source.ts';
import { readLanguages } from './reading/languages.ts';
import type { ExtractiveRequest } from './request.ts';

/** Milliseconds of work after which the event loop may run other work. */
export const YIELD_AFTER_MS = 1;

/** Reads the passages and composes the answer. Other work can run between two steps. */
export function* answerSteps(request: ExtractiveRequest): Generator<void, ComposedAnswer> {
	const languages = yield* readLanguages(request.passages);
	const sources: Source[] = [];
	for (const [i, passage] of request.passages.entries()) {
		sources.push(yield* readSource(passage, languages[i] ?? null));
		yield;
	}
	return yield* composeAnswer(request, sources);
}
