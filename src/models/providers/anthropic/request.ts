import type { ServiceRequest } from '../chat-protocol.ts';
import type { AssistantPart, ModelCall, PromptMessage } from '../prompt-message.ts';
import type { ProviderSettings } from '../settings.ts';
import { modelTraits } from './model-traits.ts';

/** The version of the protocol, sent as a header of every request. */
export const ANTHROPIC_VERSION = '2023-06-01';
/** The address of the service without a version, which settings may contain. */
const SERVICE = 'https://api.anthropic.com';
/** The highest temperature of the protocol. */
const MAX_TEMPERATURE = 1;

/** A request for a streamed message. */
export function anthropicRequest(call: ModelCall, { base_url, api_key }: ProviderSettings): ServiceRequest {
	const { model, messages } = call;
	const body = {
		model,
		...limits(call),
		system: messages.flatMap((message) => (message.role === 'system' ? [textBlock(message.text)] : [])),
		messages: wireMessages(messages),
		...wireTools(call),
		stream: true,
	};
	return {
		url: `${base_url === SERVICE ? `${SERVICE}/v1` : base_url}/messages`,
		headers: {
			'content-type': 'application/json',
			'anthropic-version': ANTHROPIC_VERSION,
			...(api_key === null ? {} : { 'x-api-key': api_key }),
		},
		body: JSON.stringify(body),
	};
}

/** Lowers the settings to the limits of the model, because the service refuses a request that exceeds them. */
function limits({ model, maxOutputTokens, temperature }: ModelCall): object {
	const traits = modelTraits(model);
	const wanted = maxOutputTokens ?? traits.maxOutputTokens;
	return {
		max_tokens: traits.isKnown ? Math.min(wanted, traits.maxOutputTokens) : wanted,
		...(temperature === null || !traits.takesTemperature
			? {}
			: { temperature: Math.min(Math.max(temperature, 0), MAX_TEMPERATURE) }),
	};
}

/**
 * The protocol refuses a conversation with calls but without their tools, so tools of earlier rounds are listed and
 * forbidden.
 */
function wireTools({ tools, messages }: ModelCall): object {
	if (tools.length > 0) return { tools: tools.map(wireTool) };
	const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []));
	const names = new Set(calls.flatMap((part) => (part.type === 'tool_call' ? [part.name] : [])));
	if (names.size === 0) return {};
	const forbidden = [...names].map((name) => wireTool({ name, description: null, parameters: { type: 'object' } }));
	return { tools: forbidden, tool_choice: { type: 'none' } };
}

function wireTool({ name, description, parameters }: ModelCall['tools'][number]): object {
	return {
		name,
		...(description === null ? {} : { description }),
		input_schema: parameters,
		// Arguments are streamed while the model writes them. Without it the service holds them back, and an answer seems to
		// hang.
		eager_input_streaming: true,
	};
}

/** The messages after the system message. Roles alternate, so results of tools are merged with the user's text. */
function wireMessages(messages: readonly PromptMessage[]): object[] {
	const wire: Array<{ role: 'user' | 'assistant'; content: object[] }> = [];
	for (const [at, message] of messages.entries()) {
		if (message.role === 'system') continue;
		const role = message.role === 'assistant' ? 'assistant' : 'user';
		const content = contentOf(message, at === messages.length - 1);
		const last = wire.at(-1);
		if (last?.role === role) last.content.push(...content);
		else wire.push({ role, content });
	}
	return wire.map(({ role, content }) => ({ role, content: role === 'assistant' ? callsLast(content) : content }));
}

function contentOf(message: PromptMessage, isLast: boolean): object[] {
	switch (message.role) {
		case 'assistant':
			return message.parts.flatMap((part, at) => assistantBlocks(part, isLast && at === message.parts.length - 1));
		case 'tool':
			return message.results.map(({ id, result, isError }) => {
				return { type: 'tool_result', tool_use_id: id, content: result, ...(isError ? { is_error: true } : {}) };
			});
		default:
			return [textBlock(message.text)];
	}
}

function assistantBlocks(part: AssistantPart, isLast: boolean): object[] {
	switch (part.type) {
		case 'text':
			// The service refuses whitespace at the end of an answer that it continues.
			return [textBlock(isLast ? part.text.trim() : part.text)];
		case 'reasoning':
			// The service verifies the signature and refuses reasoning without a signature.
			return part.signature === null ? [] : [{ type: 'thinking', thinking: part.text, signature: part.signature }];
		case 'redacted_reasoning':
			return [{ type: 'redacted_thinking', data: part.data }];
		case 'tool_call':
			return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input }];
	}
}

/** Calls follow the texts, as the protocol requires. A block of thinking keeps its position between them. */
function callsLast(content: object[]): object[] {
	const ordered: object[] = [];
	const calls: object[] = [];
	for (const block of content) {
		const { type } = block as { type: string };
		if (type === 'tool_use') {
			calls.push(block);
			continue;
		}
		if (type === 'thinking' || type === 'redacted_thinking') ordered.push(...calls.splice(0));
		ordered.push(block);
	}
	return [...ordered, ...calls];
}

function textBlock(text: string): object {
	return { type: 'text', text };
}
