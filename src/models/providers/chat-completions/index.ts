import type { ChatProtocol } from '../chat-protocol.ts';
import { ChatCompletionsReader } from './reader.ts';
import { chatCompletionsRequest } from './request.ts';

/** The chat-completions protocol of OpenAI, which most services and model servers offer. */
export const chatCompletions: ChatProtocol = {
	request: chatCompletionsRequest,
	reader: () => new ChatCompletionsReader(),
};
