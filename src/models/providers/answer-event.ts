/** Why an answer ended, as its service reports it. `other` covers reasons that a protocol adds later. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other';

/** Tokens as the service counts them; undefined if it reports none. */
export interface TokenUsage {
	input: number | undefined;
	output: number | undefined;
}

/** A complete tool call. `arguments` is the text that the model wrote, which may not be JSON. */
export interface ReceivedToolCall {
	type: 'tool_call';
	id: string;
	name: string;
	arguments: string;
	/** The signature that the service needs back with this call in the next round (Gemini's thought signature). */
	signature?: string;
}

/** The end of a complete answer. */
export interface AnswerFinish {
	type: 'finish';
	reason: FinishReason;
	usage: TokenUsage;
	/** Whether the service accepts unsigned reasoning back in the next round. */
	takesReasoningBack: boolean;
}

/** One part of a streamed answer, the same for every protocol. Texts of deltas are never empty. */
export type AnswerEvent =
	| { type: 'text_delta'; text: string }
	/** A block of reasoning begins. `redacted` is its encrypted content, which only the service can read. */
	| { type: 'reasoning_start'; redacted?: string }
	| { type: 'reasoning_delta'; text: string }
	/** The signature of the block that began last. */
	| { type: 'reasoning_signature'; signature: string }
	| { type: 'tool_call_start' }
	/** A piece of the arguments of a tool call. */
	| { type: 'tool_call_delta'; arguments: string }
	| ReceivedToolCall
	| AnswerFinish;

/**
 * Adds a piece of text or reasoning to the events of a batch. Adjacent pieces become one event, because an event with a long
 * text costs as much as one with a short text.
 */
export function pushDelta(events: AnswerEvent[], type: 'text_delta' | 'reasoning_delta', text: string): void {
	if (text === '') return;
	const last = events.at(-1);
	if (last?.type === type) last.text += text;
	else events.push({ type, text });
}
