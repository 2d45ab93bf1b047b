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

type SentMessage = { deployment_id: string; conversation_id?: string; content: string };

/** Waits before the repeats of a request whose connection broke (ms). */
const REPEAT_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * Sends a message and passes on the events of its reply until it has ended. Where the connection breaks, the request is repeated
 * with the same key: the server stores the message once, and sends the events of the reply again from its beginning.
 * @throws ApiError, TypeError where the connection breaks each time, the reason of the signal
 */
export async function streamReply(
	body: SentMessage,
	onEvent: (event: ReplyEvent) => void,
	signal: AbortSignal,
): Promise<void> {
	const key = crypto.randomUUID();
	for (let repeats = 0; ; repeats++) {
		try {
			await streamOnce(body, key, onEvent, signal);
			return;
		} catch (error) {
			const delay = REPEAT_DELAYS_MS[repeats];
			if (!(error instanceof TypeError) || delay === undefined) throw error;
			await pause(delay, signal);
		}
	}
}

/** @throws as `streamReply`; TypeError also where the stream ends before the reply */
async function streamOnce(
	body: SentMessage,
	key: string,
	onEvent: (event: ReplyEvent) => void,
	signal: AbortSignal,
): Promise<void> {
	const response = await fetch(new URL('api/v1/messages', BASE_URL), {
		method: 'POST',
		headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
		body: JSON.stringify({ ...body, stream: true }),
		signal,
	});
	if (!response.ok || response.body === null) throw await errorOfResponse(response);
	let isComplete = false;
	const parser = createParser({
		onEvent: ({ data }) => {
			const event = JSON.parse(data) as ReplyEvent;
			isComplete = endsStream(event);
			onEvent(event);
		},
	});
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		parser.feed(value);
	}
	if (!isComplete) throw new TypeError('The stream ended before the reply.');
}

/** Whether nothing has to follow. While a person handles the conversation, the question is the only event. */
function endsStream(event: ReplyEvent): boolean {
	if (event.type === 'message.created') return event.message.role === 'user';
	return event.type === 'message.completed' || event.type === 'message.failed';
}

/** Waits; rejects with the reason of the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, ms);
		signal.addEventListener(
			'abort',
			() => {
				clearTimeout(timer);
				reject(signal.reason);
			},
			{ once: true },
		);
	});
}
