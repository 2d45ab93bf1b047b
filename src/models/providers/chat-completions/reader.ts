import { type AnswerEvent, type FinishReason, pushDelta, type TokenUsage } from '../answer-event.ts';
import type { AnswerReader, StreamEvent } from '../chat-protocol.ts';
import { isRecord, type JsonRecord, jsonOf } from '../json.ts';
import { brokeOff } from '../provider-failure.ts';
import { errorIn, namedError, protocolError } from '../reported-error.ts';
import { ToolCallAssembler, toolCallDelta } from './tool-calls.ts';

/** The data of the last event of a stream. */
const DONE = '[DONE]';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
	stop: 'stop',
	length: 'length',
	content_filter: 'content_filter',
	tool_calls: 'tool_calls',
	function_call: 'tool_calls',
};

/**
 * Reads a streamed chat completion: events whose data are `chat.completion.chunk` objects. It checks only the members that
 * it reads, because services use the others freely. Of several choices it reads the first.
 */
export class ChatCompletionsReader implements AnswerReader {
	isFinished = false;
	readonly #calls = new ToolCallAssembler();
	#finishReason: FinishReason | undefined;
	#usage: TokenUsage = { input: undefined, output: undefined };
	#isReasoning = false;
	/**
	 * Services that name their reasoning `reasoning_content` need it back under this name (DeepSeek refuses the next round
	 * without it). Of those that name it `reasoning`, some refuse a request with the other name (Groq).
	 */
	#takesReasoningBack = false;

	read({ event, data }: StreamEvent, events: AnswerEvent[]): void {
		if (data === DONE) {
			this.end(events);
			return;
		}
		if (event === 'error') throw namedError(data);
		const chunk = jsonOf(data);
		const error = errorIn(chunk);
		if (error !== null) throw error;
		if (!isRecord(chunk) || !Array.isArray(chunk.choices)) throw protocolError(`This is not a chunk: ${data}`);
		// The last chunk often has no choice, only usage.
		if (isRecord(chunk.usage)) this.#usage = usageOf(chunk.usage);
		const [choice] = chunk.choices;
		if (choice === undefined) return;
		if (!isRecord(choice)) throw protocolError(`A choice is not an object: ${data}`);
		this.#readFinishReason(choice.finish_reason);
		if (choice.delta === undefined || choice.delta === null) return;
		if (!isRecord(choice.delta)) throw protocolError(`A delta is not an object: ${data}`);
		this.#readDelta(choice.delta, events);
	}

	/** Some services end the stream without `[DONE]`. An answer with a finish reason is complete anyway. */
	end(events: AnswerEvent[]): void {
		if (this.#finishReason === undefined) throw brokeOff();
		this.isFinished = true;
		events.push(...this.#calls.finish());
		events.push({
			type: 'finish',
			reason: this.#finishReason,
			usage: this.#usage,
			takesReasoningBack: this.#takesReasoningBack,
		});
	}

	/** The last one counts where a service sends several. */
	#readFinishReason(reason: unknown): void {
		const name = optionalText(reason, 'finish_reason');
		if (name !== undefined) this.#finishReason = Object.hasOwn(FINISH_REASONS, name) ? FINISH_REASONS[name] : 'other';
	}

	#readDelta(delta: JsonRecord, events: AnswerEvent[]): void {
		const content = optionalText(delta.reasoning_content, 'reasoning_content');
		const reasoning = optionalText(delta.reasoning, 'reasoning');
		this.#takesReasoningBack ||= content !== undefined && content !== '';
		this.#addReasoning(content ?? reasoning ?? '', events);
		this.#readContent(delta.content, events);
		// A refusal replaces an answer in a given format, so it is text of the answer too.
		this.#addText(optionalText(delta.refusal, 'refusal') ?? '', events);
		const calls = delta.tool_calls;
		if (calls === undefined || calls === null) return;
		if (!Array.isArray(calls)) throw protocolError('The member tool_calls is not a list.');
		if (calls.length > 0) this.#isReasoning = false;
		for (const call of calls) events.push(...this.#calls.add(toolCallDelta(call)));
	}

	/** A text, or (Mistral) a list of parts with text and thinking. */
	#readContent(content: unknown, events: AnswerEvent[]): void {
		if (!Array.isArray(content)) {
			this.#addText(optionalText(content, 'content') ?? '', events);
			return;
		}
		for (const part of content) {
			if (!isRecord(part)) throw protocolError('A part of the content is not an object.');
			if (part.type === 'text') this.#addText(textOfPart(part), events);
			else if (part.type === 'thinking' && Array.isArray(part.thinking)) {
				this.#addReasoning(part.thinking.map(textOfPart).join(''), events);
			}
		}
	}

	#addText(text: string, events: AnswerEvent[]): void {
		if (text === '') return;
		this.#isReasoning = false;
		pushDelta(events, 'text_delta', text);
	}

	#addReasoning(text: string, events: AnswerEvent[]): void {
		if (text === '') return;
		if (!this.#isReasoning) events.push({ type: 'reasoning_start' });
		this.#isReasoning = true;
		pushDelta(events, 'reasoning_delta', text);
	}
}

function textOfPart(part: unknown): string {
	return isRecord(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : '';
}

/** @throws ProviderError for a value that is neither a string nor absent */
function optionalText(value: unknown, name: string): string | undefined {
	if (typeof value === 'string') return value;
	if (value === undefined || value === null) return undefined;
	throw protocolError(`The member ${name} is not a string.`);
}

/** A value that is not a number counts as 0, because an answer must not fail for its usage. */
function usageOf({ prompt_tokens, completion_tokens }: JsonRecord): TokenUsage {
	return { input: countOf(prompt_tokens), output: countOf(completion_tokens) };
}

function countOf(tokens: unknown): number {
	return typeof tokens === 'number' ? tokens : 0;
}
