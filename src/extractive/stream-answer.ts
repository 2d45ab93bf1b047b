import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { answerSteps, YIELD_AFTER_MS } from './answer-steps.ts';
import type { ComposedAnswer } from './compose-answer.ts';
import type { ExtractiveRequest } from './request.ts';
import { streamPieces } from './stream-pieces.ts';

/**
 * Answers from the passages, in Markdown with citations such as `[1]`. Yields the answer in pieces of a few words;
 * throws the signal's reason after an abort. Returns whether the answer is a refusal.
 */
export async function* streamAnswer(
	request: ExtractiveRequest,
	signal: AbortSignal,
): AsyncGenerator<string, Pick<ComposedAnswer, 'isRefusal'>> {
	signal.throwIfAborted();
	const steps = answerSteps(request);
	let since = performance.now();
	let step = steps.next();
	for (; !step.done; step = steps.next()) {
		if (performance.now() - since < YIELD_AFTER_MS) continue;
		await yieldToEventLoop();
		signal.throwIfAborted();
		since = performance.now();
	}
	for (const piece of streamPieces(step.value.text)) {
		// A follower receives each piece before the next one is made, and `stop` can abort between two pieces.
		await yieldToEventLoop();
		signal.throwIfAborted();
		yield piece;
	}
	return { isRefusal: step.value.isRefusal };
}
