import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One server-sent event; `data` is its parsed JSON. */
export interface ReceivedEvent {
	id: string | undefined;
	event: string | undefined;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
	data: any;
}

/**
 * The events of an answer, as they come. Ends when the server ends the stream.
 * @throws Error where the answer is no event stream, or the connection breaks
 */
export async function* eventsOf(response: Response): AsyncGenerator<ReceivedEvent> {
	if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null) {
		throw new Error(`Not an event stream: ${response.status} ${await response.text()}`);
	}
	const pending: EventSourceMessage[] = [];
	const parser = createParser({ onEvent: (event) => void pending.push(event) });
	const decoder = new TextDecoder();
	for await (const bytes of response.body) {
		parser.feed(decoder.decode(bytes, { stream: true }));
		for (const { id, event, data } of pending.splice(0)) yield { id, event, data: JSON.parse(data) };
	}
}
