import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ChatModel, ChatProvider, ChatRequest, ModelEvent } from '../chat-model.ts';
import { analyseSource, composeAnswer } from './compose-answer.ts';
import { passageLanguages } from './languages.ts';
import type { Source } from './scoring.ts';
import { streamPieces } from './stream-pieces.ts';

/** After this much work in one go, in milliseconds, whatever else waits has its turn. */
const YIELD_AFTER_MS = 3;

/**
 * Answers by quoting the retrieved passages. Counts no tokens, so it reports no usage; follows no instructions, because
 * it writes nothing of its own.
 */
const extractive: ChatModel = {
	async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
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
		for (const text of streamPieces(composeAnswer(request, sources))) {
			// Subscribers get each piece before the next one is made, and `stop` gets in between.
			await yieldToEventLoop();
			signal.throwIfAborted();
			yield { type: 'delta', text };
		}
	},
};

/** The provider that needs nothing: no key, no network, no download. */
export const builtinProvider: ChatProvider = {
	id: 'builtin',
	chat: extractive,
	models: [
		{
			name: 'extractive',
			description: 'Quotes the best-matching sentences of the knowledge bases with their sources. Needs no provider.',
		},
	],
};
