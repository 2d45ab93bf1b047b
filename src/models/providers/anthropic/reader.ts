import { type AnswerEvent, type FinishReason, pushDelta } from '../answer-event.ts';
import type { AnswerReader, StreamEvent } from '../chat-protocol.ts';
import { isRecord, type JsonRecord, jsonOf } from '../json.ts';
import { brokeOff } from '../provider-failure.ts';
import { errorIn, namedError, protocolError, ReportedError } from '../reported-error.ts';
import { reportedStatus } from '../reported-status.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
	end_turn: 'stop',
	stop_sequence: 'stop',
	pause_turn: 'stop',
	tool_use: 'tool_calls',
	max_tokens: 'length',
	model_context_window_exceeded: 'length',
	refusal: 'content_filter',
};

/** An open block of the answer. Blocks of text need no state. */
type Block = { type: 'thinking' } | { type: 'tool_use'; id: string; name: string; arguments: string };

/**
 * Reads a streamed answer of the messages protocol. It ignores unknown types of events, blocks and deltas, which Anthropic's
 * versioning policy may add at any time. It also ignores blocks of tools that run at the service, because no request names
 * them.
 */
export class AnthropicReader implements AnswerReader {
	isFinished = false;
	/** The id of the message; undefined before its first event. */
	#message: { id: unknown } | undefined;
	readonly #blocks = new Map<number, Block>();
	#finishReason: FinishReason = 'other';
	readonly #tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

	read({ event, data }: StreamEvent, events: AnswerEvent[]): void {
		const value = jsonOf(data);
		if (!isRecord(value) || typeof value.type !== 'string') {
			throw event === 'error' ? namedError(data) : protocolError(`This is not an event: ${data}`);
		}
		switch (value.type) {
			case 'message_start':
				this.#startMessage(recordIn(value, 'message'));
				break;
			case 'content_block_start':
				this.#startBlock(numberIn(value, 'index'), recordIn(value, 'content_block'), events);
				break;
			case 'content_block_delta':
				this.#readDelta(numberIn(value, 'index'), recordIn(value, 'delta'), events);
				break;
			case 'content_block_stop':
				this.#stopBlock(numberIn(value, 'index'), events);
				break;
			case 'message_delta':
				this.#readMessageDelta(recordIn(value, 'delta'), value.usage);
				break;
			case 'message_stop':
				this.#finish(events);
				break;
			case 'error':
				throw this.#reported(errorIn(value) ?? namedError(data));
		}
	}

	end(): void {
		throw brokeOff();
	}

	#startMessage({ id, usage, stop_reason }: JsonRecord): void {
		if (this.#message !== undefined) {
			// Some proxies repeat the event. Two messages in one stream cannot be distinguished.
			if (this.#message.id === id) return;
			throw protocolError('A message begins within another message.');
		}
		this.#message = { id };
		this.#count(usage);
		if (typeof stop_reason === 'string') this.#finishReason = finishReasonOf(stop_reason);
	}

	#startBlock(index: number, block: JsonRecord, events: AnswerEvent[]): void {
		switch (block.type) {
			case 'thinking':
				this.#blocks.set(index, { type: 'thinking' });
				events.push({ type: 'reasoning_start' });
				break;
			case 'redacted_thinking':
				events.push({ type: 'reasoning_start', redacted: textIn(block, 'data') });
				break;
			case 'tool_use': {
				// The arguments come in deltas. An object at the start is complete.
				const given = isRecord(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
				const call = {
					type: 'tool_use',
					id: textIn(block, 'id'),
					name: textIn(block, 'name'),
					arguments: given,
				} as const;
				this.#blocks.set(index, call);
				events.push({ type: 'tool_call_start' });
				if (given !== '') events.push({ type: 'tool_call_delta', arguments: given });
			}
		}
	}

	#readDelta(index: number, delta: JsonRecord, events: AnswerEvent[]): void {
		switch (delta.type) {
			case 'text_delta':
				pushDelta(events, 'text_delta', textIn(delta, 'text'));
				break;
			case 'thinking_delta':
				pushDelta(events, 'reasoning_delta', textIn(delta, 'thinking'));
				break;
			case 'signature_delta': {
				const signature = textIn(delta, 'signature');
				if (this.#blocks.get(index)?.type === 'thinking') events.push({ type: 'reasoning_signature', signature });
				break;
			}
			case 'input_json_delta': {
				const block = this.#blocks.get(index);
				const piece = textIn(delta, 'partial_json');
				if (block?.type !== 'tool_use' || piece === '') break;
				block.arguments += piece;
				events.push({ type: 'tool_call_delta', arguments: piece });
			}
		}
	}

	#stopBlock(index: number, events: AnswerEvent[]): void {
		const block = this.#blocks.get(index);
		this.#blocks.delete(index);
		if (block?.type !== 'tool_use') return;
		events.push({ type: 'tool_call', id: block.id, name: block.name, arguments: block.arguments });
	}

	#readMessageDelta({ stop_reason }: JsonRecord, usage: unknown): void {
		this.#count(usage);
		this.#finishReason = typeof stop_reason === 'string' ? finishReasonOf(stop_reason) : 'other';
	}

	/** The counts of a later event are totals, so they replace the earlier ones. */
	#count(usage: unknown): void {
		if (!isRecord(usage)) return;
		const tokens = this.#tokens;
		tokens.input = countOf(usage.input_tokens) ?? tokens.input;
		tokens.cacheRead = countOf(usage.cache_read_input_tokens) ?? tokens.cacheRead;
		tokens.cacheWrite = countOf(usage.cache_creation_input_tokens) ?? tokens.cacheWrite;
		tokens.output = countOf(usage.output_tokens) ?? tokens.output;
	}

	#finish(events: AnswerEvent[]): void {
		this.isFinished = true;
		const { input, cacheRead, cacheWrite, output } = this.#tokens;
		events.push({
			type: 'finish',
			reason: this.#finishReason,
			// The protocol does not count tokens that were read from the cache or written to it as input tokens.
			usage: { input: input + cacheRead + cacheWrite, output },
			// The service accepts only signed reasoning back.
			takesReasoningBack: false,
		});
	}

	/** Before the message begins, an error of an unknown type counts as a fault of the service, like status 500. */
	#reported(error: ReportedError): ReportedError {
		if (this.#message !== undefined || reportedStatus(error) !== null) return error;
		return new ReportedError(error.message, { statusCode: 500, code: error.code, type: error.type });
	}
}

function finishReasonOf(name: string): FinishReason {
	return Object.hasOwn(FINISH_REASONS, name) ? (FINISH_REASONS[name] as FinishReason) : 'other';
}

function countOf(tokens: unknown): number | undefined {
	return typeof tokens === 'number' ? tokens : undefined;
}

function recordIn(value: JsonRecord, name: string): JsonRecord {
	const member = value[name];
	if (!isRecord(member)) throw protocolError(`The member ${name} of ${String(value.type)} is not an object.`);
	return member;
}

function textIn(value: JsonRecord, name: string): string {
	const member = value[name];
	if (typeof member !== 'string') throw protocolError(`The member ${name} of ${String(value.type)} is not a string.`);
	return member;
}

function numberIn(value: JsonRecord, name: string): number {
	const member = value[name];
	if (typeof member !== 'number') throw protocolError(`The member ${name} of ${String(value.type)} is not a number.`);
	return member;
}
