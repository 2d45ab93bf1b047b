import type { ToolCall } from '../contract/index.ts';
import type { ModelToolCall, ToolResult } from '../models/index.ts';
import type { ToolFunction, ToolOutcome } from '../tools/index.ts';
import type { ReplyListener, ReplyProgress } from './reply-progress.ts';

/** Calls of one round; what a model asks for beyond that is refused. */
const MAX_CALLS = 16;
const MAX_ID_CHARS = 100;

/** Carries out the calls that a model asked for in one round, all at once, and tells of each when it begins and ends. */
export async function runCalls(
	asked: readonly ModelToolCall[],
	functions: readonly ToolFunction[],
	progress: ReplyProgress,
	listener: ReplyListener,
	signal: AbortSignal,
): Promise<ToolResult[]> {
	const results = asked.map((call, index) => {
		const id = uniqueId(call.id, progress.toolCalls);
		const callee = functions.find(({ name }) => name === call.name);
		const begun: ToolCall = {
			id,
			tool_id: callee?.tool_id ?? '',
			name: call.name,
			arguments: call.arguments,
			result: null,
			status: 'running',
			duration_ms: null,
		};
		const place = progress.toolCalls.push(begun) - 1;
		listener.toolCall(begun);
		const started = performance.now();
		return (async (): Promise<ToolResult> => {
			const { result, is_error } =
				index < MAX_CALLS ? await outcomeOf(callee, call, functions, signal) : refusal('Too many calls at once.');
			signal.throwIfAborted();
			const duration_ms = Math.round(performance.now() - started);
			const ended: ToolCall = { ...begun, result, status: is_error ? 'failed' : 'completed', duration_ms };
			progress.toolCalls[place] = ended;
			listener.toolCall(ended);
			return { id, name: call.name, arguments: call.arguments, result, is_error };
		})();
	});
	return Promise.all(results);
}

async function outcomeOf(
	callee: ToolFunction | undefined,
	call: ModelToolCall,
	functions: readonly ToolFunction[],
	signal: AbortSignal,
): Promise<Pick<ToolOutcome, 'result' | 'is_error'>> {
	if (callee) return callee.call(call.arguments, signal);
	const names = functions.map(({ name }) => name).join(', ');
	return refusal(`There is no tool of this name. There are: ${names || 'none'}.`);
}

function refusal(result: string): Pick<ToolOutcome, 'result' | 'is_error'> {
	return { result, is_error: true };
}

/** The provider's id of a call; one of ours where that is missing, very long, or was there before in this reply. */
function uniqueId(id: string, calls: readonly ToolCall[]): string {
	const isTaken = (other: string) => calls.some((call) => call.id === other);
	if (id !== '' && id.length <= MAX_ID_CHARS && !isTaken(id)) return id;
	let number = calls.length + 1;
	while (isTaken(`call_${number}`)) number++;
	return `call_${number}`;
}
