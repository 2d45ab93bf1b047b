import type { ServiceRequest } from '../chat-protocol.ts';
import type { AssistantPart, ModelCall, PromptMessage } from '../prompt-message.ts';
import type { ProviderSettings } from '../settings.ts';

/** Makes the request for a streamed chat completion. */
export function chatCompletionsRequest(call: ModelCall, settings: ProviderSettings): ServiceRequest {
	const { model, messages, tools, maxOutputTokens, temperature } = call;
	const { base_url, api_key, type } = settings;
	const body = {
		model,
		...(maxOutputTokens === null ? {} : { [limitName(type)]: maxOutputTokens }),
		...(temperature === null ? {} : { temperature }),
		messages: messages.flatMap(wireMessages),
		...(tools.length === 0 ? {} : { tools: tools.map(wireTool) }),
		stream: true,
		stream_options: { include_usage: true },
	};
	return {
		url: `${base_url}/chat/completions`,
		headers: {
			'content-type': 'application/json',
			...(api_key === null ? {} : { authorization: `Bearer ${api_key}` }),
		},
		body: JSON.stringify(body),
	};
}

/** OpenAI's reasoning models refuse the older name of the limit, which compatible services need. */
function limitName(type: ProviderSettings['type']): string {
	return type === 'openai' ? 'max_completion_tokens' : 'max_tokens';
}

function wireTool({ name, description, parameters }: ModelCall['tools'][number]) {
	return { type: 'function', function: { name, ...(description === null ? {} : { description }), parameters } };
}

/** The messages of the protocol for one message. Each result of a tool is a separate message. */
function wireMessages(message: PromptMessage): object[] {
	switch (message.role) {
		case 'assistant':
			return [assistantMessage(message.parts)];
		case 'tool':
			return message.results.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result }));
		default:
			return [{ role: message.role, content: message.text }];
	}
}

/** The protocol keeps no order between text, reasoning and calls. */
function assistantMessage(parts: readonly AssistantPart[]): object {
	const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
	const reasoning = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
	const calls = parts.filter((part) => part.type === 'tool_call').map(wireCall);
	return {
		role: 'assistant',
		content: calls.length > 0 ? text || null : text,
		...(reasoning === '' ? {} : { reasoning_content: reasoning }),
		...(calls.length === 0 ? {} : { tool_calls: calls }),
	};
}

function wireCall({ id, name, input, signature }: Extract<AssistantPart, { type: 'tool_call' }>): object {
	return {
		id,
		type: 'function',
		function: { name, arguments: JSON.stringify(input) },
		// Gemini refuses the next round without its signatures.
		...(signature === null ? {} : { extra_content: { google: { thought_signature: signature } } }),
	};
}
