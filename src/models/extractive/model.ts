import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatModel, ChatProvider, ChatRequest, ModelEvent } from '../chat-model.ts';
import { answer, readSource } from './answer.ts';
import { passageLanguages } from './languages.ts';
import { piecesOf } from './pieces.ts';
import type { Source } from './scoring.ts';

/** After this much work in one go, in milliseconds, whatever else waits has its turn. */
const TURN_BUDGET = 3;

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
			sources.push(readSource(passage, languages[i] ?? null));
			if (performance.now() - since < TURN_BUDGET) continue;
			await nextTurn();
			signal.throwIfAborted();
			since = performance.now();
		}
		for (const text of piecesOf(answer(request, sources))) {
			// Subscribers get each piece before the next one is made, and `stop` gets in between.
			await nextTurn();
			signal.throwIfAborted();
			yield { type: 'delta', text };
		}
	},
};

/** The provider that needs nothing: no key, no network, no download. */
export const builtin: ChatProvider = {
	id: 'builtin',
	chat: extractive,
	models: [
		{
			name: 'extractive',
			description: 'Quotes the best-matching sentences of the knowledge bases with their sources. Needs no provider.',
		},
	],
};
