import { type FinishReason, type Frames, piecesOf, USAGE } from './script.ts';

const STOP_REASONS: { [reason in FinishReason]: string } = {
	stop: 'end_turn',
	length: 'max_tokens',
	tool_calls: 'tool_use',
	content_filter: 'refusal',
};

/** The events of one answer in the Anthropic messages protocol. */
export function anthropicFrames(): Frames {
	let begun = false;
	let index = -1;
	let open: 'text' | 'thinking' | null = null;
	const event = (type: string, content: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...content })}\n\n`;
	const begin = () => {
		if (begun) return '';
		begun = true;
		const usage = { input_tokens: USAGE.input, output_tokens: 1 };
		const message = {
			id: 'msg_1',
			type: 'message',
			role: 'assistant',
			model: 'small',
			content: [],
			stop_reason: null,
			usage,
		};
		return event('message_start', { message }) + event('ping', {});
	};
	const close = () => {
		if (open === null) return '';
		open = null;
		return event('content_block_stop', { index });
	};
	const block = (kind: 'text' | 'thinking', content_block: object) => {
		if (open === kind) return '';
		const before = close();
		open = kind;
		index++;
		return before + event('content_block_start', { index, content_block });
	};
	const delta = (content: object) => event('content_block_delta', { index, delta: content });
	return {
		of(step) {
			if ('error' in step) return event('error', { error: step.error });
			const beginning = begin();
			if ('say' in step) {
				return beginning + block('text', { type: 'text', text: '' }) + delta({ type: 'text_delta', text: step.say });
			}
			if ('think' in step) {
				const thinking = block('thinking', { type: 'thinking', thinking: '' });
				const thought = beginning + thinking + delta({ type: 'thinking_delta', thinking: step.think });
				const { signature } = step;
				return signature === undefined ? thought : thought + delta({ type: 'signature_delta', signature });
			}
			if ('call' in step) {
				const { id, name, arguments: given } = step.call;
				const text = typeof given === 'string' ? given : JSON.stringify(given);
				const before = close();
				index++;
				return [
					beginning,
					before,
					event('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } }),
					...piecesOf(text, step.pieces ?? 2).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
					event('content_block_stop', { index }),
				].join('');
			}
			const { input, output } = step.usage ?? USAGE;
			return [
				beginning,
				close(),
				event('message_delta', {
					delta: { stop_reason: STOP_REASONS[step.finish], stop_sequence: null },
					usage: { input_tokens: input, output_tokens: output },
				}),
				event('message_stop', {}),
			].join('');
		},
	};
}
