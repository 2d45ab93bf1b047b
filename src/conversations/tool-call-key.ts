import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '../contract/index.ts';

/**
 * What a call of a reply is known by where it may change something: the message and the call's number in it. A call that
 * says again what one that was cut off had said is known by the key of that one, so that whoever carried it out although
 * nobody heard of it can tell that it is the same.
 * @param calls all calls of the reply up to this one, in order
 */
export function toolCallKey(messageId: string, calls: readonly ToolCall[]): string {
	const last = calls.length - 1;
	const call = calls[last];
	/** Numbers of calls whose outcome nobody knows, and that were not made again. */
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
