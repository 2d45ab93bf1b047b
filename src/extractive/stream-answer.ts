import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { composeAnswer, readSource } from './compose-answer.ts';
import type { Source } from './matching/source.ts';
import { passageLanguages } from './reading/languages.ts';
import type { ExtractiveRequest } from './request.ts';
import { streamPieces } from './stream-pieces.ts';

/** Milliseconds of work after which the event loop may run other work. */
const YIELD_AFTER_MS = 3;

/**
 * Answers from the passages, in Markdown with citations such as `[1]`. Yields the answer in pieces of a few words;
 * throws the signal's reason after an abort.
 */
export async function* streamAnswer(request: ExtractiveRequest, signal: AbortSignal): AsyncGenerator<string> {
	signal.throwIfAborted();
	const steps = stepsOf(request);
	let since = performance.now();
	let step = steps.next();
	for (; !step.done; step = steps.next()) {
		if (performance.now() - since < YIELD_AFTER_MS) continue;
		await yieldToEventLoop();
		signal.throwIfAborted();
		since = performance.now();
	}
	for (const piece of streamPieces(step.value)) {
		// A follower receives each piece before the next one is made, and `stop` can abort between two pieces.
		await yieldToEventLoop();
		signal.throwIfAborted();
		yield piece;
	}
}

/** Reads the passages and composes the answer. Other work can run between two steps. */
function* stepsOf(request: ExtractiveRequest): Generator<void, string> {
	const languages = passageLanguages(request.passages);
	const sources: Source[] = [];
	for (const [i, passage] of request.passages.entries()) {
		sources.push(yield* readSource(passage, languages[i] ?? null));
		yield;
	}
	return yield* composeAnswer(request, sources);
}
