import type { ChatRequest, ProviderSettings } from '../../src/models/index.ts';

type ProviderType = 'openai-compatible' | 'anthropic';

/** A question without history and passages. */
export const QUESTION: ChatRequest = {
	model: 'small',
	instructions: '',
	history: [],
	question: 'How long does the warranty of my bicycle last?',
	passages: [],
	confidence: 0,
	tools: [],
	rounds: [],
};

/** A provider behind a stand-in network. */
export function providerOf(type: ProviderType): ProviderSettings {
	return {
		id: type,
		type,
		base_url: 'http://provider.invalid/v1',
		api_key: null,
		models: null,
		context_tokens: 32_000,
		max_output_tokens: 4_000,
		first_token_timeout_ms: 60_000,
		idle_timeout_ms: 60_000,
		temperature: null,
		prices: new Map(),
	};
}

/** The stream of an answer with this number of tokens, as a provider sends it. */
export function recordedAnswer(type: ProviderType, tokens: number): string {
	const words = Array.from({ length: tokens }, (_, at) => ` word${at}`);
	return type === 'anthropic' ? anthropicStream(words) : chatCompletion(words);
}

function chatCompletion(words: readonly string[]): string {
	const chunk = (choices: object[], more: object = {}) => {
		const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small' };
		return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
	};
	const delta = (content: object, finish_reason: string | null = null) =>
		chunk([{ index: 0, delta: content, logprobs: null, finish_reason }]);
	return [
		delta({ role: 'assistant', content: '' }),
		...words.map((content) => delta({ content })),
		delta({}, 'stop'),
		chunk([], { usage: { prompt_tokens: 11, completion_tokens: words.length } }),
		'data: [DONE]\n\n',
	].join('');
}

function anthropicStream(words: readonly string[]): string {
	const event = (type: string, content: object = {}) =>
		`event: ${type}\ndata: ${JSON.stringify({ type, ...content })}\n\n`;
	const usage = { input_tokens: 11, output_tokens: 1 };
	return [
		event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage } }),
		event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
		event('ping'),
		...words.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
		event('content_block_stop', { index: 0 }),
		event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: words.length } }),
		event('message_stop'),
	].join('');
}
