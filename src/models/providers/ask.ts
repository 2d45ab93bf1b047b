import type { ServiceFetch } from '../../net/index.ts';
import type { AnswerEvent } from './answer-event.ts';
import { anthropic } from './anthropic/index.ts';
import { chatCompletions } from './chat-completions/index.ts';
import type { ChatProtocol } from './chat-protocol.ts';
import type { ModelCall } from './prompt-message.ts';
import { readAnswer } from './read-answer.ts';
import { protocolError, statusError } from './reported-error.ts';
import type { ProviderSettings } from './settings.ts';

/** The events of an answer while it arrives, one batch for each read of the stream. */
export type AnswerStream = AsyncGenerator<AnswerEvent[], void, undefined>;

/** Sends the request; resolves when the response has begun. An abort of the signal closes the connection. */
export type Ask = (signal: AbortSignal) => Promise<AnswerStream>;

const PROTOCOLS: { readonly [type in ProviderSettings['type']]: ChatProtocol } = {
	'openai-compatible': chatCompletions,
	openai: chatCompletions,
	anthropic,
};

/**
 * Prepares the request of a call, which may be sent several times.
 * @returns a function that rejects with net's ServiceError, ReportedError or ProviderError if there is no answer
 */
export function prepareCall(call: ModelCall, settings: ProviderSettings, fetch: ServiceFetch): Ask {
	const protocol = PROTOCOLS[settings.type];
	const { url, headers, body } = protocol.request(call, settings);
	return async (signal) => {
		const response = await fetch(url, { method: 'POST', headers, body, signal });
		if (!response.ok) throw await statusError(response);
		if (response.body === null) throw protocolError(`The response with status ${response.status} has no body.`);
		return readAnswer(response.body, protocol.reader());
	};
}
