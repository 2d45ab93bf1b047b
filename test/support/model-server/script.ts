/** What a stand-in model does next. */
export type ModelStep =
	/** A piece of text. */
	| { say: string }
	/** A piece of reasoning, which is no text of the answer; signed where the protocol has that. */
	| { think: string; signature?: string }
	/** A call of a tool, its arguments in so many pieces (two, where not said). A text is sent as it is. */
	| { call: { id: string; name: string; arguments: unknown }; pieces?: number; signature?: string }
	/** An error in the stream, as the protocol has it. */
	| { error: { message: string; type?: string; code?: string | number } }
	/** The end, with what it cost. A script without one ends with `stop`, or `tool_calls` where it has calls. */
	| { finish: FinishReason; usage?: Usage }
	/** Milliseconds. */
	| { pause: number }
	/** Goes on when this has resolved, or the caller has left. */
	| { wait: Promise<unknown> }
	/** Bytes that are none of the protocol's. */
	| { raw: string | Uint8Array }
	/** Closes the connection. */
	| { die: true }
	/** Resets the connection: what was written just before may be lost. */
	| { reset: true }
	/** Says nothing more and keeps the connection. */
	| { hang: true }
	/** Ends the response in good order, without the protocol's end. */
	| { end: true }
	/** An answer that is no stream. */
	| { status: number; headers?: Record<string, string>; body?: string };

export type ModelScript = readonly ModelStep[];

/** In the words of the chat-completions protocol. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Usage {
	input: number;
	output: number;
}

/** What a script costs that does not say. */
export const USAGE: Usage = { input: 11, output: 7 };

/** Puts steps into the events of a protocol. */
export interface Frames {
	of(
		step: Extract<
			ModelStep,
			{ say: string } | { think: string } | { call: object } | { error: object } | { finish: string }
		>,
	): string;
}

/** A text in so many pieces of about the same length. */
export function piecesOf(text: string, count: number): string[] {
	const length = Math.max(1, Math.ceil(text.length / count));
	const pieces: string[] = [];
	for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
	return pieces;
}
