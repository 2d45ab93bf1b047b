import { exceedsDepth } from '../../base/index.ts';
import type { ModelEvent } from '../chat-model.ts';
import type { AnswerEvent, AnswerFinish, ReceivedToolCall } from './answer-event.ts';
import type { AnswerStream } from './ask.ts';
import type { CallAbort } from './call-abort.ts';
import { brokeOff, providerError } from './provider-failure.ts';
import { RoundRecorder } from './round-memory.ts';

/** Characters of an answer's text at most: a model that does not stop is stopped. */
const MAX_TEXT_CHARS = 200_000;
/** Characters of all arguments of an answer's calls together. */
const MAX_ARGUMENT_CHARS = 256 * 1024;
const MAX_CALLS = 64;
const MAX_NAME_CHARS = 64;
/** Far more than any tool takes. */
const MAX_ARGUMENT_DEPTH = 256;
/** After its last part an answer is given so long to end by itself, which keeps its connection for the next. */
const LAST_MS = 1_000;

/** What is expected of an answer. */
export interface AnswerTerms {
	/** Whether calls were offered: a model that was given no tools may still ask for one it has seen before. */
	mayCall: boolean;
	/**
	 * Whether an answer without a call or text that can be seen is none. With results of tools before it a model may be asked
	 * again.
	 */
	mustSpeak: boolean;
	idleMs: number;
	/** Called once, when the answer begins. */
	onBegin(): void;
}

/** One answer of a provider, as it comes in. */
export class Answer {
	readonly #terms: AnswerTerms;
	readonly #ending: CallAbort;
	#textChars = 0;
	/** Whether it has said anything that can be seen. */
	#spoke = false;
	#argumentChars = 0;
	#callCount = 0;
	readonly #calls: ReceivedToolCall[] = [];
	readonly #recorder = new RoundRecorder();
	#begun = false;

	constructor(terms: AnswerTerms, ending: CallAbort) {
		this.#terms = terms;
		this.#ending = ending;
	}

	/** Whether anything of the answer has come: it is then this answer or none. */
	get begun(): boolean {
		return this.#begun;
	}

	/**
	 * What an answer means. Text is handed on at once, calls and usage when the answer has come to its end in good
	 * order: a call in a stream that breaks off is not complete.
	 * @throws ProviderError, whatever the stream throws, or the reason of the call's end
	 */
	async *events(stream: AnswerStream): AsyncGenerator<ModelEvent, void, undefined> {
		let finish: AnswerFinish | undefined;
		while (finish === undefined) {
			const batch = await this.#ending.race(stream.next());
			if (batch.done) throw brokeOff();
			this.#noticeActivity();
			for (const event of batch.value) {
				if (event.type === 'text_delta') yield* this.#say(event.text);
				if (event.type === 'finish') finish = event;
				this.#take(event);
			}
		}
		yield* this.#last(finish);
		await this.#untilClosed(stream);
	}

	/** Records an event, within the bounds of an answer. */
	#take(event: AnswerEvent): void {
		if (this.#terms.mayCall) this.#recorder.add(event);
		switch (event.type) {
			case 'tool_call_start':
				if (++this.#callCount > MAX_CALLS) throw tooManyCalls();
				break;
			case 'tool_call_delta':
				this.#argumentChars += event.arguments.length;
				if (this.#argumentChars > MAX_ARGUMENT_CHARS) throw tooManyCalls();
				break;
			case 'tool_call':
				this.#calls.push(event);
		}
	}

	/** As much of it as an answer may have. */
	*#say(text: string): Generator<ModelEvent, void, undefined> {
		const room = MAX_TEXT_CHARS - this.#textChars;
		this.#textChars += text.length;
		this.#spoke ||= text.trim() !== '';
		if (room > 0) yield { type: 'delta', text: text.slice(0, room) };
		if (text.length > room) throw providerError('The model wrote too much.', { isProviderFault: false });
	}

	#noticeActivity(): void {
		if (this.#begun) {
			this.#ending.restartDeadline();
			return;
		}
		this.#begun = true;
		const { idleMs } = this.#terms;
		this.#ending.setDeadline(idleMs, () =>
			providerError(`The model stopped in the middle of its answer: nothing came for ${seconds(idleMs)}.`),
		);
		this.#terms.onBegin();
	}

	*#last(finish: AnswerFinish): Generator<ModelEvent, void, undefined> {
		const { input, output } = finish.usage;
		if (input !== undefined || output !== undefined) {
			// What was used is told although the answer may be of no use.
			yield { type: 'usage', input_tokens: countOf(input), output_tokens: countOf(output) };
		}
		const of = { isProviderFault: false };
		switch (finish.reason) {
			case 'length':
				throw providerError('The answer was cut off: it reached the length that the model may write.', of);
			case 'content_filter':
				throw providerError("The model provider's content filter ended the answer.", of);
		}
		const calls = this.#terms.mayCall ? this.#calls : [];
		if (calls.length === 0 && !this.#spoke) {
			if (this.#calls.length > 0) throw providerError('The model asked for tools that it was not given.', of);
			if (this.#terms.mustSpeak) throw providerError('The model gave an empty answer.', of);
		}
		for (const { id, name, arguments: text } of calls) {
			yield { type: 'tool_call', id, name: nameOf(name), arguments: argumentsOf(text) };
		}
		const memory = calls.length === 0 ? null : this.#recorder.memory(finish);
		if (memory !== null) yield { type: 'memory', memory };
	}

	/** The answer is complete: that its stream does not end is no failure any more. */
	async #untilClosed(stream: AnswerStream): Promise<void> {
		this.#ending.setDeadline(LAST_MS, () => new Error('no longer waited for'));
		try {
			while (!(await this.#ending.race(stream.next())).done);
		} catch {
			// Its connection will be closed instead of kept.
		}
	}
}

/** A number of tokens, whatever the provider takes for one. */
function countOf(tokens = 0): number {
	return Math.min(Math.max(0, Math.round(tokens)), Number.MAX_SAFE_INTEGER);
}

/** A function's name as providers take it back: models invent others, without any bound. */
function nameOf(name: string): string {
	return name.slice(0, MAX_NAME_CHARS).replaceAll(/[^a-zA-Z0-9_-]/g, '_') || '_';
}

/**
 * Arguments as an object; the text itself where it is not JSON, for the tool to refuse, or is nested so deep that to store
 * it would overflow the stack.
 */
function argumentsOf(text: string): unknown {
	if (text.trim() === '') return {};
	try {
		const given: unknown = JSON.parse(text);
		return exceedsDepth(given, MAX_ARGUMENT_DEPTH) ? text : given;
	} catch {
		return text;
	}
}

function tooManyCalls() {
	return providerError('The model asked for too many tools at once.', { isProviderFault: false });
}

/** A time as people say it. */
export function seconds(ms: number): string {
	return ms === 1_000 ? '1 second' : `${ms / 1_000} seconds`;
}
