import { createParser } from 'eventsource-parser';
import { errorOfResponse } from './api-error.ts';
import { BASE_URL, type Resource } from './client.ts';

type Message = Resource<'Message'>;
type ToolCall = Message['tool_calls'][number];

/** An event of a conversation that a reply goes through. */
export type ReplyEvent =
	| { type: 'message.created' | 'message.completed'; message: Message }
	| { type: 'message.delta'; message_id: string; index: number; delta: string }
	| { type: 'message.reset'; message_id: string }
	| { type: 'message.failed'; message: Message; error: { code: string; message: string } }
	| { type: 'tool.started' | 'tool.completed'; message_id: string; tool_call: ToolCall };

/**
 * Sends a message and passes on the events of its reply until it has ended.
 * @throws ApiError, TypeError where the connection breaks, the reason of the signal
 */
export async function streamReply(
	body: { deployment_id: string; conversation_id?: string; content: string },
	onEvent: (event: ReplyEvent) => void,
	signal: AbortSignal,
): Promise<void> {
	const response = await fetch(new URL('api/v1/messages', BASE_URL), {
		method: 'POST',
		headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
		body: JSON.stringify({ ...body, stream: true }),
		signal,
	});
	if (!response.ok || response.body === null) throw await errorOfResponse(response);
	const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data) as ReplyEvent) });
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		parser.feed(value);
	}
}
