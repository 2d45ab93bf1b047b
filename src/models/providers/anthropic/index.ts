import type { ChatProtocol } from '../chat-protocol.ts';
import { AnthropicReader } from './reader.ts';
import { anthropicRequest } from './request.ts';

export { ANTHROPIC_VERSION } from './request.ts';

/** The messages protocol of Anthropic. */
export const anthropic: ChatProtocol = {
	request: anthropicRequest,
	reader: () => new AnthropicReader(),
};
