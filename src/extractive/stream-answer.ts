import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { analyseSource, composeAnswer } from './compose-answer.ts';
import { passageLanguages } from './languages.ts';
import type { ExtractiveRequest } from './request.ts';
import type { Source } from './scoring.ts';
import { streamPieces } from './stream-pieces.ts';

/** Milliseconds of work after which the event loop may run other work. */
const YIELD_AFTER_MS = 3;

/**
 * Answers by quoting the passages, in Markdown with citations such as `[1]`. Yields the answer in pieces of a few words;
 * throws the signal's reason after an abort.
 */
export async function* streamAnswer(request: ExtractiveRequest, signal: AbortSignal): AsyncGenerator<string> {
	signal.throwIfAborted();
	const sources: Source[] = [];
	const languages = passageLanguages(request.passages);
	let since = performance.now();
	for (const [i, passage] of request.passages.entries()) {
		sources.push(analyseSource(passage, languages[i] ?? null));
		if (performance.now() - since < YIELD_AFTER_MS) continue;
		await yieldToEventLoop();
		signal.throwIfAborted();
		since = performance.now();
	}
	for (const piece of streamPieces(composeAnswer(request, sources))) {
		// A follower receives each piece before the next one is made, and `stop` can abort between two pieces.
		await yieldToEventLoop();
		signal.throwIfAborted();
		yield piece;
	}
}
