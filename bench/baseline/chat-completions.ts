import { type Dispatcher, request } from 'undici';

/** One message of the prompt. */
export interface PromptMessage {
	role: 'system' | 'user' | 'assistant';
	content: string;
}

/** Calls a model by the chat-completions protocol and yields the deltas of its answer. */
export async function* chatCompletion(
	agent: Dispatcher,
	baseUrl: string,
	model: string,
	messages: PromptMessage[],
): AsyncGenerator<string, void, undefined> {
	const { statusCode, body } = await request(`${baseUrl}/chat/completions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ model, messages, stream: true }),
		dispatcher: agent,
	});
	if (statusCode !== 200) throw new Error(`The model answered with ${statusCode}: ${await body.text()}`);
	body.setEncoding('utf8');
	let rest = '';
	for await (const piece of body) {
		const lines = (rest + piece).split('\n');
		rest = lines.pop() as string;
		for (const line of lines) {
			if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
			const text = JSON.parse(line.slice(6)).choices[0]?.delta?.content;
			if (text) yield text;
		}
	}
}
