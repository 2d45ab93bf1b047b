import type { Readable } from 'node:stream';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { PullSource, ServerSentEvent, SourceReader } from '../base/index.ts';

/** Events that wait for the client. Above it the other node is not read. */
const MAX_WAITING = 64;

/** The events of another node's stream. */
export class ForwardedEvents implements PullSource<ServerSentEvent> {
	readonly #body: Readable;
	readonly #decoder = new TextDecoder();
	readonly #parser: EventSourceParser;
	#waiting: ServerSentEvent[] = [];
	#reader: SourceReader | null = null;
	#hasBodyEnded = false;
	#failure: Error | null = null;

	constructor(body: Readable) {
		this.#body = body;
		this.#parser = createParser({
			onEvent: ({ id, event, data }) => {
				this.#waiting.push({ ...(id !== undefined && { id }), event: event ?? 'message', data });
			},
		});
		// Until the stream is opened, an error waits for its reader.
		body.on('error', (error) => this.#end(error));
	}

	get isEnded(): boolean {
		return this.#hasBodyEnded && this.#waiting.length === 0 && this.#failure === null;
	}

	open(reader: SourceReader): void {
		this.#reader = reader;
		this.#body.on('data', (bytes: Buffer) => {
			this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
			if (this.#waiting.length >= MAX_WAITING) this.#body.pause();
			if (this.#waiting.length > 0) reader.onReadable();
		});
		this.#body.on('end', () => this.#end(null));
		this.#body.on('close', () => this.#end(null));
	}

	read(): ServerSentEvent | null {
		const event = this.#waiting.shift() ?? null;
		if (event === null && this.#failure !== null) {
			const failure = this.#failure;
			this.#failure = null;
			throw failure;
		}
		if (this.#waiting.length === 0 && this.#body.isPaused()) this.#body.resume();
		return event;
	}

	close(): void {
		this.#hasBodyEnded = true;
		this.#waiting = [];
		this.#body.destroy();
	}

	#end(failure: Error | null): void {
		if (this.#hasBodyEnded) return;
		this.#hasBodyEnded = true;
		this.#failure = failure;
		this.#reader?.onReadable();
	}
}
