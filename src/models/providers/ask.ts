import type { ServiceFetch } from '../../net/index.ts';
import type { AnswerEvent } from './answer-event.ts';
import { anthropic } from './anthropic/index.ts';
import { chatCompletions } from './chat-completions/index.ts';
import type { ChatProtocol } from './chat-protocol.ts';
import type { ModelCall } from './prompt-message.ts';
import { readAnswer } from './read-answer.ts';
import { protocolError, statusError } from './service-error.ts';
import type { ProviderSettings } from './settings.ts';

/** An answer as it comes in: batches of events, one for each reading of the stream. */
export type AnswerStream = AsyncGenerator<AnswerEvent[], void, undefined>;

/** Asks a service; resolves when its answer has begun. An abort of the signal closes the connection. */
export type Ask = (signal: AbortSignal) => Promise<AnswerStream>;

const PROTOCOLS: { readonly [type in ProviderSettings['type']]: ChatProtocol } = {
	'openai-compatible': chatCompletions,
	openai: chatCompletions,
	anthropic,
};

/**
 * Prepares a call, which may be asked several times.
 * @returns what rejects with ServiceError or ProviderError where the service does not answer
 */
export function prepareCall(call: ModelCall, settings: ProviderSettings, fetch: ServiceFetch): Ask {
	const protocol = PROTOCOLS[settings.type];
	const { url, headers, body } = protocol.request(call, settings);
	return async (signal) => {
		const response = await fetch(url, { method: 'POST', headers, body, signal });
		if (!response.ok) throw await statusError(response);
		if (response.body === null) throw protocolError(`The answer with status ${response.status} has no body.`);
		return readAnswer(response.body, protocol.reader());
	};
}
