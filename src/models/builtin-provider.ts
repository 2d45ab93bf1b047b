import { streamAnswer } from '../extractive/index.ts';
import type { ChatModel, ChatProvider, ChatRequest, ModelEvent } from './chat-model.ts';

/** An answer quotes one or two of them. A table with the answer often ranks below prose with the words of the question. */
const READ_PASSAGES = 20;

/** Answers by quoting the passages. Reports no usage, because it counts no tokens, and ignores the instructions. */
const extractive: ChatModel = {
	minPassages: READ_PASSAGES,
	isFree: true,
	needsMoment: true,
	async stream(request: ChatRequest, signal: AbortSignal, onEvent: (event: ModelEvent) => void): Promise<void> {
		const answer = streamAnswer(request, signal);
		let next = await answer.next();
		for (; !next.done; next = await answer.next()) onEvent({ type: 'delta', text: next.value });
		if (next.value.isRefusal) onEvent({ type: 'refusal' });
	},
};

/** The provider that needs no key, no network and no download. */
export const builtinProvider: ChatProvider = {
	id: 'builtin',
	chat: extractive,
	priceOf: () => ({ input: 0, output: 0, reserved_micros: 0 }),
	models: [
		{
			name: 'extractive',
			description: 'Quotes the best-matching sentences of the knowledge bases with their sources. Needs no provider.',
		},
	],
};
