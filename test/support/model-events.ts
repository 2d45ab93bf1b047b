import type { ChatModel, ChatRequest, ModelEvent } from '../../src/models/index.ts';

/** The `stream` of a model whose events come from a generator. */
export function streamFrom(
	generate: (request: ChatRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>,
): ChatModel['stream'] {
	return async (request, signal, onEvent) => {
		for await (const event of generate(request, signal)) onEvent(event);
	};
}

/** The events of an answer, one after the other. A return before the end aborts the answer. */
export async function* eventsOfAnswer(
	chat: ChatModel,
	request: ChatRequest,
	signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<ModelEvent, void, undefined> {
	const leaving = new AbortController();
	const arrived: ModelEvent[] = [];
	let wake = () => {};
	let ended = false;
	const answer = chat
		.stream(request, AbortSignal.any([signal, leaving.signal]), (event) => {
			arrived.push(event);
			wake();
		})
		.finally(() => {
			ended = true;
			wake();
		});
	answer.catch(() => {});
	try {
		for (;;) {
			for (let event = arrived.shift(); event; event = arrived.shift()) yield event;
			if (ended) break;
			await new Promise<void>((resolve) => {
				wake = resolve;
			});
		}
		await answer;
	} finally {
		leaving.abort();
	}
}
