import { type Frames, piecesOf, USAGE } from './script.ts';

/** The events of one answer in the chat-completions protocol. */
export function chatCompletionsFrames(): Frames {
	let calls = 0;
	let begun = false;
	const chunk = (content: object) =>
		`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small', ...content })}\n\n`;
	const delta = (content: object) => {
		const role = begun ? {} : { role: 'assistant' };
		begun = true;
		return chunk({ choices: [{ index: 0, delta: { ...role, ...content }, finish_reason: null }] });
	};
	return {
		of(step) {
			if ('say' in step) return delta({ content: step.say });
			if ('think' in step) return delta({ reasoning_content: step.think });
			if ('error' in step) return `data: ${JSON.stringify({ error: step.error })}\n\n`;
			if ('call' in step) {
				const { id, name, arguments: given } = step.call;
				const index = calls++;
				const text = typeof given === 'string' ? given : JSON.stringify(given);
				const signed = step.signature && { extra_content: { google: { thought_signature: step.signature } } };
				return [
					delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...signed }] }),
					...piecesOf(text, step.pieces ?? 2).map((piece) =>
						delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
					),
				].join('');
			}
			const { input, output } = step.usage ?? USAGE;
			const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
			return [
				chunk({ choices: [{ index: 0, delta: {}, finish_reason: step.finish }] }),
				chunk({ choices: [], usage }),
				'data: [DONE]\n\n',
			].join('');
		},
	};
}
