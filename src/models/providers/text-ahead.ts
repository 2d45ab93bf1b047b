import { setTimeout as wait } from 'node:timers/promises';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { EndpointFetch } from '../../net/index.ts';

/** What stands on the last line of a stream of the chat-completions protocol. */
const DONE = '[DONE]';
/** After that line the stream is given so long to end by itself, which keeps its connection for the next. */
const LAST_MS = 1_000;
/**
 * Once text has come, what follows is read this often at most, as often as screens are drawn: a fast model says several
 * tokens in that time, and each reading costs as much for one as for all.
 */
const PACE_MS = 16;

/** Who waits for the text of an answer, by the signal of the request. */
const waiting = new WeakMap<AbortSignal, TextAhead>();

/** A piece of a chat completion (`chat.completion.chunk`) as far as it is looked at. */
interface Chunk {
	choices?: readonly { delta?: Record<string, unknown> | null; finish_reason?: unknown }[] | null;
	usage?: unknown;
	error?: unknown;
}

/**
 * The text of an answer ahead of the library that reads it. The library takes four streams and a check against a schema for
 * each token, most of what a token costs; but most pieces of an answer hold text and nothing else, and are told from here as
 * they come. The library reads all the same, their text joined to one piece, and what it finds is what counts for all but
 * text: calls, thinking, usage, errors, the end. From the first piece on that has text and something else, all is its.
 */
export class TextAhead {
	readonly #onText: (text: string) => void;
	/** Resolves when what was told has been taken. */
	readonly #taken: () => Promise<void>;
	/** What the library has not been given yet: the first of the pieces, and the text of all. */
	#held: { chunk: Chunk; text: string } | null = null;
	/** Characters at the beginning of the answer's text that were told from here. */
	#told = 0;
	#isOver = false;

	/** @param signal that of the request whose answer this is */
	constructor(signal: AbortSignal, onText: (text: string) => void, taken: () => Promise<void>) {
		this.#onText = onText;
		this.#taken = taken;
		waiting.set(signal, this);
	}

	/** What has not been told yet of the text that the library has found next. */
	rest(text: string): string {
		const rest = text.slice(this.#told);
		this.#told = Math.max(0, this.#told - text.length);
		return rest;
	}

	/**
	 * The body as the library reads it, ended soon after the last line of its protocol: a library that waits for the end of
	 * the body would take an answer that is complete for one that hangs, where a service or a proxy keeps its connection open.
	 */
	through(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
		const reader = body.getReader();
		const decoder = new TextDecoder();
		const encoder = new TextEncoder();
		let given = '';
		let told = '';
		let late: Promise<null> | undefined;
		let readAt = 0;
		const give = (data: string) => {
			given += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
		};
		const parser: EventSourceParser = createParser({
			onEvent: ({ data }) => {
				if (data === DONE) late ??= wait(LAST_MS, null, { ref: false });
				const chunk = this.#isOver ? undefined : chunkOf(data);
				const text = chunk && plainText(chunk);
				if (chunk && text !== undefined) {
					this.#hold(chunk, text);
					told += text;
					return;
				}
				this.#isOver ||= chunk === undefined || !isSilent(chunk);
				this.#letGo(give);
				give(data);
			},
		});
		const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
			while (given === '') {
				await this.#taken();
				const early = this.#isOver || readAt === 0 ? 0 : readAt + PACE_MS - performance.now();
				if (early > 1) await wait(early);
				const reading = reader.read();
				const next = await (late === undefined ? reading : Promise.race([reading, late]));
				if (next === null || next.done) {
					this.#letGo(give);
					if (given !== '') controller.enqueue(encoder.encode(given));
					controller.close();
					if (next === null) await reader.cancel();
					return;
				}
				parser.feed(decoder.decode(next.value, { stream: true }));
				if (told === '') continue;
				readAt = performance.now();
				this.#told += told.length;
				this.#onText(told);
				told = '';
			}
			controller.enqueue(encoder.encode(given));
			given = '';
		};
		return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
	}

	#hold(chunk: Chunk, text: string): void {
		if (this.#held === null) this.#held = { chunk, text };
		else this.#held.text += text;
	}

	#letGo(give: (data: string) => void): void {
		if (this.#held === null) return;
		const { chunk, text } = this.#held;
		this.#held = null;
		const [choice] = chunk.choices ?? [];
		give(JSON.stringify({ ...chunk, choices: [{ ...choice, delta: { ...choice?.delta, content: text } }] }));
	}
}

/** A fetch whose answers tell those who wait for them of their text. */
export function tellingAhead(fetch: EndpointFetch): EndpointFetch {
	return async (input, init) => {
		const response = await fetch(input, init);
		const ahead = init?.signal ? waiting.get(init.signal) : undefined;
		if (ahead === undefined || !response.ok || response.body === null) return response;
		const { status, headers } = response;
		return new Response(ahead.through(response.body), { status, headers });
	};
}

function chunkOf(data: string): Chunk | undefined {
	try {
		const chunk: unknown = JSON.parse(data);
		return typeof chunk === 'object' && chunk !== null ? chunk : undefined;
	} catch {
		return undefined;
	}
}

/** The text of a piece that holds nothing else. */
function plainText({ choices, usage, error }: Chunk): string | undefined {
	if (!Array.isArray(choices) || choices.length !== 1 || usage != null || error !== undefined) return undefined;
	const { delta, finish_reason } = choices[0];
	if (delta == null || finish_reason != null) return undefined;
	for (const name in delta) if (name !== 'content' && name !== 'role' && delta[name] !== null) return undefined;
	const { content, role } = delta;
	const isWell = typeof content === 'string' && content !== '' && (role === undefined || role === 'assistant');
	return isWell ? content : undefined;
}

/** Whether a piece says nothing that could be text. */
function isSilent({ choices }: Chunk): boolean {
	if (choices == null) return true;
	if (!Array.isArray(choices)) return false;
	const content = choices[0]?.delta?.content;
	return content === undefined || content === null || content === '';
}
