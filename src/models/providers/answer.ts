import { exceedsDepth } from '../../base/index.ts';
import type { ModelEvent } from '../chat-model.ts';
import type { AnswerEvent, AnswerFinish, ReceivedToolCall } from './answer-event.ts';
import type { CallAbort } from './call-abort.ts';
import { providerError } from './provider-failure.ts';
import { RoundRecorder } from './round-memory.ts';

/** Characters of an answer's text at most. A longer answer is aborted. */
const MAX_TEXT_CHARS = 200_000;
/** Characters of all arguments of an answer's calls together. */
const MAX_ARGUMENT_CHARS = 256 * 1024;
const MAX_CALLS = 64;
/** The largest context that a setting may name. A larger count is an error of the provider. */
const MAX_TOKENS_OF_CALL = 100_000_000;
const MAX_NAME_CHARS = 64;
/** Far deeper than the arguments of any tool. */
const MAX_ARGUMENT_DEPTH = 256;

/** The rules for an answer. */
export interface AnswerRules {
	/** Whether tools were offered. A model without tools may still ask for a tool that it has seen before. */
	mayCall: boolean;
	/** Whether an answer needs a call or visible text. After results of tools it may be empty. */
	requiresOutput: boolean;
	idleMs: number;
	/** Called once, when the answer begins. */
	onBegin(): void;
}

/** One answer of a provider while it arrives. */
export class Answer {
	readonly #rules: AnswerRules;
	readonly #callAbort: Pick<CallAbort, 'setDeadline' | 'restartDeadline'>;
	readonly #onEvent: (event: ModelEvent) => void;
	#textChars = 0;
	/** Whether it has had any visible text. */
	#hasVisibleText = false;
	#argumentChars = 0;
	#callCount = 0;
	readonly #calls: ReceivedToolCall[] = [];
	readonly #recorder = new RoundRecorder();
	#hasBegun = false;
	#isComplete = false;

	/** @param onEvent gets text and the length of all else at once; calls and usage after the regular end, because a call in a stream that breaks off may be incomplete */
	constructor(
		rules: AnswerRules,
		callAbort: Pick<CallAbort, 'setDeadline' | 'restartDeadline'>,
		onEvent: (event: ModelEvent) => void,
	) {
		this.#rules = rules;
		this.#callAbort = callAbort;
		this.#onEvent = onEvent;
	}

	/** Whether any part of the answer has arrived. After that there is no retry. */
	get hasBegun(): boolean {
		return this.#hasBegun;
	}

	/** Whether the answer has arrived whole. */
	get isComplete(): boolean {
		return this.#isComplete;
	}

	/**
	 * Takes the next events of the answer.
	 * @throws ProviderError if the answer breaks a rule
	 */
	take(events: readonly AnswerEvent[]): void {
		this.#noticeActivity();
		for (const event of events) {
			if (event.type === 'text_delta') this.#emitText(event.text);
			else if (event.type !== 'finish') this.#onEvent({ type: 'unseen_output', characters: unseenCharacters(event) });
			this.#record(event);
			if (event.type === 'finish') this.#emitEnd(event);
		}
	}

	/** Records an event, within the limits of an answer. */
	#record(event: AnswerEvent): void {
		if (this.#rules.mayCall) this.#recorder.add(event);
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

	/** Emits the text up to the limit of an answer. */
	#emitText(text: string): void {
		const remaining = MAX_TEXT_CHARS - this.#textChars;
		this.#textChars += text.length;
		this.#hasVisibleText ||= text.trim() !== '';
		if (remaining > 0) this.#onEvent({ type: 'delta', text: text.slice(0, remaining) });
		if (text.length > remaining) throw providerError('The model wrote too much.', { isProviderFault: false });
	}

	#noticeActivity(): void {
		if (this.#hasBegun) {
			this.#callAbort.restartDeadline();
			return;
		}
		this.#hasBegun = true;
		const { idleMs } = this.#rules;
		this.#callAbort.setDeadline(idleMs, () =>
			providerError(`The model stopped in the middle of its answer: nothing came for ${seconds(idleMs)}.`),
		);
		this.#rules.onBegin();
	}

	#emitEnd(finish: AnswerFinish): void {
		const { input, output } = finish.usage;
		if (input !== undefined || output !== undefined) {
			// The usage is reported even if the answer is rejected below.
			this.#onEvent({ type: 'usage', input_tokens: countOf(input), output_tokens: countOf(output) });
		}
		const of = { isProviderFault: false };
		switch (finish.reason) {
			case 'length':
				throw providerError('The answer was cut off: it reached the length that the model may write.', of);
			case 'content_filter':
				throw providerError("The model provider's content filter ended the answer.", of);
		}
		const calls = this.#rules.mayCall ? this.#calls : [];
		if (calls.length === 0 && !this.#hasVisibleText) {
			if (this.#calls.length > 0) throw providerError('The model asked for tools that it was not given.', of);
			if (this.#rules.requiresOutput) throw providerError('The model gave an empty answer.', of);
		}
		for (const { id, name, arguments: text } of calls) {
			this.#onEvent({ type: 'tool_call', id, name: nameOf(name), arguments: argumentsOf(text) });
		}
		const memory = calls.length === 0 ? null : this.#recorder.memory(finish);
		if (memory !== null) this.#onEvent({ type: 'memory', memory });
		this.#isComplete = true;
	}
}

/** The characters of reasoning or arguments in an event. Those of a complete call have come before. */
function unseenCharacters(event: AnswerEvent): number {
	if (event.type === 'reasoning_delta') return event.text.length;
	return event.type === 'tool_call_delta' ? event.arguments.length : 0;
}

/** A whole number of tokens, whatever number the provider sent. */
function countOf(tokens = 0): number {
	return Math.min(Math.max(0, Math.round(tokens)), MAX_TOKENS_OF_CALL);
}

/** The name of a function in a form that providers accept back. Models invent names of any length. */
function nameOf(name: string): string {
	return name.slice(0, MAX_NAME_CHARS).replaceAll(/[^a-zA-Z0-9_-]/g, '_') || '_';
}

/**
 * The parsed arguments. The text itself if it is not JSON, which the schema of the tool refuses, or is nested so deep that
 * storing it would overflow the stack.
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

/** A duration for a sentence. */
export function seconds(ms: number): string {
	return ms === 1_000 ? '1 second' : `${ms / 1_000} seconds`;
}
