import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '../contract/index.ts';

/**
 * The idempotency key of a call: the message and the call's number in it. A call that repeats an interrupted one has the key
 * of that one, so that a server that ran the interrupted call can recognise the repeat.
 * @param calls all calls of the reply up to this one, in order
 */
export function toolCallKey(messageId: string, calls: readonly ToolCall[]): string {
	const last = calls.length - 1;
	const call = calls[last];
	/** Numbers of equal calls whose outcome is unknown, and that were not repeated. */
	const unresolved: number[] = [];
	for (const [at, other] of calls.entries()) {
		if (at === last || !call || !isSameCall(other, call)) continue;
		const number = unresolved.shift() ?? at + 1;
		if (other.status === 'stopped') unresolved.push(number);
	}
	return `${messageId}-${unresolved[0] ?? calls.length}`;
}

function isSameCall(a: ToolCall, b: ToolCall): boolean {
	return a.tool_id === b.tool_id && a.name === b.name && isDeepStrictEqual(a.arguments, b.arguments);
}
