import { createParser } from 'eventsource-parser';
import type { AnswerEvent } from './answer-event.ts';
import type { AnswerReader, StreamEvent } from './chat-protocol.ts';
import { jsonOf } from './json.ts';
import { providerError } from './provider-failure.ts';
import { errorIn } from './reported-error.ts';

/** Characters of one server-sent event. The service client bounds the bytes of one line and of the whole response. */
const MAX_EVENT_CHARS = 1024 * 1024;
/** Characters of a response without server-sent events that are searched for an error. */
const MAX_BODY_CHARS = 64 * 1024;
/**
 * Reads an answer to its end, one batch of events for each read of the stream. After the last event of the answer it reads
 * on to the end of the stream, so that the connection can be used again. An early end of the iteration closes the stream.
 * @throws ReportedError, ProviderError, or an error of the stream
 */
export async function* readAnswer(
	body: ReadableStream<Uint8Array>,
	reader: AnswerReader,
): AsyncGenerator<AnswerEvent[], void, undefined> {
	const bytes = body.getReader();
	const stream = new ServerSentEvents();
	try {
		for (;;) {
			const { done, value } = await bytes.read();
			if (!reader.isFinished) {
				const events: AnswerEvent[] = [];
				const failed = attempt(() => {
					if (!done) stream.feed(value, (event) => reader.isFinished || reader.read(event, events));
					else if (!reader.isFinished) {
						stream.throwIfBodyIsError();
						reader.end(events);
					}
				});
				if (events.length > 0) yield events;
				if (failed !== undefined) throw failed.reason;
			}
			if (done) return;
		}
	} finally {
		// Without effect after the end of the stream. A stream that failed rejects, and its failure was thrown before.
		bytes.cancel().catch(() => {});
	}
}

function attempt(act: () => void): { reason: unknown } | undefined {
	try {
		act();
	} catch (reason) {
		return { reason };
	}
	return undefined;
}

/** The server-sent events in a stream of bytes. */
class ServerSentEvents {
	readonly #decoder = new TextDecoder();
	#arrived: StreamEvent[] = [];
	#isTooLarge = false;
	/** The beginning of the body while it has no event; null afterwards. */
	#body: string | null = '';
	readonly #parser = createParser({
		maxBufferSize: MAX_EVENT_CHARS,
		onEvent: (event) => void this.#arrived.push(event),
		onError: ({ type }) => {
			this.#isTooLarge ||= type === 'max-buffer-size-exceeded';
		},
	});

	/** @throws ProviderError for an event that is too large, and the errors of `take` */
	feed(bytes: Uint8Array, take: (event: StreamEvent) => unknown): void {
		const text = this.#decoder.decode(bytes, { stream: true });
		this.#parser.feed(text);
		const arrived = this.#arrived;
		this.#arrived = [];
		if (arrived.length > 0) this.#body = null;
		else if (this.#body !== null && this.#body.length < MAX_BODY_CHARS) this.#body += text;
		for (const event of arrived) take(event);
		if (this.#isTooLarge) throw providerError('The answer of the model was too large.');
	}

	/** Some services and gateways respond with status 200 and an error as JSON instead of a stream. */
	throwIfBodyIsError(): void {
		const error = this.#body === null ? null : errorIn(jsonOf(this.#body));
		if (error !== null) throw error;
	}
}
