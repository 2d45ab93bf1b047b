import type { ServiceClient, ServiceExchange } from '../../net/index.ts';
import type { ChatRequest } from '../chat-model.ts';
import { AnswerExchange, type AnswerReceiver } from './answer-exchange.ts';
import { anthropic } from './anthropic/index.ts';
import { chatCompletions } from './chat-completions/index.ts';
import type { ChatProtocol } from './chat-protocol.ts';
import type { ModelCall } from './prompt-message.ts';
import type { ProviderSettings } from './settings.ts';

/** Sends the request, and passes the answer on while it arrives. */
export type Ask = (receiver: AnswerReceiver) => ServiceExchange;

const PROTOCOLS: { readonly [type in ProviderSettings['type']]: ChatProtocol } = {
	'openai-compatible': chatCompletions,
	openai: chatCompletions,
	anthropic,
};

/** Prepares the request of a call, which may be sent several times. */
export function prepareCall(
	call: ModelCall,
	settings: ProviderSettings,
	client: Pick<ServiceClient, 'stream'>,
	traceHeaders: ChatRequest['trace_headers'] = {},
): Ask {
	const protocol = PROTOCOLS[settings.type];
	const { url, headers, body } = protocol.request(call, settings);
	const post = { url: new URL(url), headers: { ...headers, ...traceHeaders }, body };
	return (receiver) => new AnswerExchange(client, post, protocol.reader(), receiver);
}
