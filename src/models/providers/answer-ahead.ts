import { setTimeout as wait } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { type AnswerInbox, passOn, type StreamPart } from './answer-parts.ts';
import { type Chunk, chunkOf, costOf, endOf, isThinking, plainText, textChunk } from './completion-chunk.ts';

/** What stands on the last line of a stream of the chat-completions protocol. */
const DONE = '[DONE]';
/** After that line the stream is given so long to end by itself, which keeps its connection for the next. */
const LAST_MS = 1_000;
/**
 * Once text has come, what follows is read this often at most, as often as screens are drawn: a fast model says several
 * tokens in that time, and each reading costs as much for one as for all.
 */
const PACE_MS = 16;
/** Pieces without text that are kept for the library; an answer with more is not a plain one. */
const MAX_KEPT = 64;

/** Has the library read an answer with this body. */
export type ReadByLibrary = (body: ReadableStream<Uint8Array>) => Promise<ReadableStream<StreamPart>>;

/**
 * An answer of the chat-completions protocol, read ahead of the library that knows the protocol. The library takes four
 * streams for each answer and a check against a schema for each token, most of what an answer costs; but most answers are
 * text, an end and its cost, and these are told from here alone. From the first piece that holds anything else, such as
 * thinking, calls or an error, the library reads the whole answer, its text joined, and what it finds is what counts.
 */
export class AnswerAhead {
	readonly #inbox: AnswerInbox;
	readonly #library: ReadByLibrary;
	/** What the library would read, in order, besides the text that is held. */
	#kept: string[] = [];
	#held: { chunk: Chunk; text: string } | null = null;
	/** What has been read and not been told yet. */
	#fresh = '';
	/** Characters at the beginning of the answer's text that were told from here, and which the library has still to find. */
	#told = 0;
	/** Whether the answer has nothing so far but what is understood here. */
	#isPlain = true;
	/** Whether its text is still told from here. */
	#tells = true;
	#isFinished = false;
	#usage = costOf(undefined, undefined);
	/** Whether its last line has come. */
	#isDone = false;
	/** Whether its end was told from here. */
	#isOver = false;

	constructor(inbox: AnswerInbox, library: ReadByLibrary) {
		this.#inbox = inbox;
		this.#library = library;
	}

	/** Reads the body to its end; what it holds, and the failure to read it, comes into the inbox. */
	async read(body: ReadableStream<Uint8Array>): Promise<void> {
		try {
			const pieces = this.#pieces(body);
			const first = await pieces.next();
			if (first.done) {
				this.#inbox.push(null);
				return;
			}
			await passOn(await this.#library(bodyOf(first.value, pieces)), this.#inbox, (text) => this.#rest(text));
		} catch (thrown) {
			this.#inbox.fail(thrown);
		}
	}

	/** What has not been told yet of the text that the library has found next. */
	#rest(text: string): string {
		const rest = text.slice(this.#told);
		this.#told = Math.max(0, this.#told - text.length);
		return rest;
	}

	/**
	 * What the library is to read, once it is; ended soon after the last line of the protocol: an answer that is complete
	 * is not one that hangs, where a service or a proxy keeps its connection open.
	 */
	async *#pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
		const reader = body.getReader();
		const decoder = new TextDecoder();
		const parser = createParser({ onEvent: ({ data }) => this.#take(data) });
		let late: Promise<null> | undefined;
		let readAt = Number.NEGATIVE_INFINITY;
		for (;;) {
			await this.#inbox.taken();
			const early = this.#tells ? readAt + PACE_MS - performance.now() : 0;
			if (early > 1) await wait(early);
			const reading = reader.read();
			const next = await (late === undefined ? reading : Promise.race([reading, late]));
			if (next === null || next.done) {
				if (next === null) await reader.cancel();
				break;
			}
			parser.feed(decoder.decode(next.value, { stream: true }));
			if (this.#fresh !== '') {
				readAt = performance.now();
				this.#tell();
			}
			if (this.#isDone) late ??= wait(LAST_MS, null, { ref: false });
			if (this.#isDone && this.#isPlain) this.#end();
			if (!this.#isPlain && this.#kept.length > 0) yield this.#given();
		}
		this.#letGo();
		// Without its end it is the library's to judge, also where there is nothing of it.
		this.#isPlain &&= this.#isFinished;
		if (this.#isPlain) this.#end();
		else yield this.#given();
	}

	#take(data: string): void {
		if (this.#isOver) return;
		const chunk = chunkOf(data);
		const text = chunk && this.#tells && !this.#isFinished ? plainText(chunk) : undefined;
		if (chunk && text !== undefined) {
			if (this.#held === null) this.#held = { chunk, text };
			else this.#held.text += text;
			this.#fresh += text;
			return;
		}
		this.#letGo();
		this.#kept.push(data);
		if (data === DONE) {
			this.#isDone = true;
			this.#isPlain &&= this.#isFinished;
			return;
		}
		const isNoted = chunk !== undefined && this.#notes(chunk);
		this.#isPlain &&= isNoted && this.#kept.length <= MAX_KEPT;
		// What comes after anything else may come too late: an error ends the answer.
		this.#tells &&= isNoted || (chunk !== undefined && isThinking(chunk));
	}

	/** Takes down what a piece says of the end. False: it says something else. */
	#notes(chunk: Chunk): boolean {
		const end = endOf(chunk);
		if (end === undefined || (end.isFinish && this.#isFinished)) return false;
		if (end.usage !== null) this.#usage = end.usage;
		this.#isFinished ||= end.isFinish;
		return true;
	}

	#tell(): void {
		this.#told += this.#fresh.length;
		this.#inbox.push(this.#fresh);
		this.#fresh = '';
	}

	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#kept = [];
		this.#inbox.push({ type: 'finish', usage: this.#usage, finishReason: { unified: 'stop', raw: 'stop' } });
	}

	/** Lets the library have the text that is held, as one piece. */
	#letGo(): void {
		if (this.#held === null) return;
		this.#kept.push(textChunk(this.#held.chunk, this.#held.text));
		this.#held = null;
	}

	#given(): Uint8Array {
		const events = this.#kept.map((data) => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`);
		this.#kept = [];
		return Buffer.from(events.join(''));
	}
}

function bodyOf(first: Uint8Array, others: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
	let isFirst = true;
	const source = {
		async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
			if (isFirst) {
				isFirst = false;
				controller.enqueue(first);
				return;
			}
			const next = await others.next();
			if (next.done) controller.close();
			else controller.enqueue(next.value);
		},
	};
	return new ReadableStream(source, { highWaterMark: 0 });
}
