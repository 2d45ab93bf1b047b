import { type AnswerEvent, type FinishReason, pushDelta } from '../answer-event.ts';
import type { AnswerReader, StreamEvent } from '../chat-protocol.ts';
import { isRecord, type JsonRecord, jsonOf } from '../json.ts';
import { brokeOff } from '../provider-failure.ts';
import { reportedStatus } from '../reported-status.ts';
import { errorIn, namedError, protocolError, ServiceError } from '../service-error.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
	end_turn: 'stop',
	stop_sequence: 'stop',
	pause_turn: 'stop',
	tool_use: 'tool_calls',
	max_tokens: 'length',
	model_context_window_exceeded: 'length',
	refusal: 'content_filter',
};

/** A block of the answer that is open. Blocks of text need no memory. */
type Block = { type: 'thinking' } | { type: 'tool_use'; id: string; name: string; arguments: string };

/**
 * Reads a streamed answer of the messages protocol. Unknown kinds of events, blocks and deltas are passed over: Anthropic's
 * versioning policy lets them be added at any time. Tools that run at the service are never asked for, so their blocks are
 * passed over too.
 */
export class AnthropicReader implements AnswerReader {
	isFinished = false;
	/** The id of the message; undefined before it has begun. */
	#message: { id: unknown } | undefined;
	readonly #blocks = new Map<number, Block>();
	#finishReason: FinishReason = 'other';
	readonly #tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

	read({ event, data }: StreamEvent, events: AnswerEvent[]): void {
		const value = jsonOf(data);
		if (!isRecord(value) || typeof value.type !== 'string') {
			throw event === 'error' ? namedError(data) : protocolError(`This is no event: ${data}`);
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
			// Proxies repeat the event; two messages in one stream cannot be told apart.
			if (this.#message.id === id) return;
			throw protocolError('A message begins within another one.');
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
				// The arguments come in deltas; an object that is there from the start is complete.
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

	/** What is there replaces what was counted before: the counts of later events are totals. */
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
			// Tokens that were read from the cache or written to it are not among the input tokens of the protocol.
			usage: { input: input + cacheRead + cacheWrite, output },
			// Only signed reasoning is taken back.
			takesReasoningBack: false,
		});
	}

	/** Before the message has begun an error of an unknown kind is the service's own, like status 500. */
	#reported(error: ServiceError): ServiceError {
		if (this.#message !== undefined || reportedStatus(error) !== null) return error;
		return new ServiceError(error.message, { statusCode: 500, code: error.code, type: error.type });
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
	if (!isRecord(member)) throw protocolError(`The member ${name} of ${String(value.type)} is no object.`);
	return member;
}

function textIn(value: JsonRecord, name: string): string {
	const member = value[name];
	if (typeof member !== 'string') throw protocolError(`The member ${name} of ${String(value.type)} is no text.`);
	return member;
}

function numberIn(value: JsonRecord, name: string): number {
	const member = value[name];
	if (typeof member !== 'number') throw protocolError(`The member ${name} of ${String(value.type)} is no number.`);
	return member;
}
