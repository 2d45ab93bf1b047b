import type { ToolCall } from '../contract/index.ts';
import type { Passage } from '../models/index.ts';
import type { ReplyOutcome } from './turn.ts';

/** What there is of a reply while it is written. */
export interface ReplyProgress {
	text: string;
	passages: Passage[];
	/** Running ones included. */
	toolCalls: ToolCall[];
	usage: ReplyOutcome['usage'];
}

/** Is told what happens to a reply while it is written. */
export interface ReplyListener {
	text(text: string): void;
	/** A call has begun or ended. */
	toolCall(call: ToolCall): void;
}

/** The beginning of a reply. */
export function noProgress(): ReplyProgress {
	return { text: '', passages: [], toolCalls: [], usage: null };
}
