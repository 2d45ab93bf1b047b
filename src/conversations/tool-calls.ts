import { inSpan, type Span } from '../base/index.ts';
import type { ToolCall } from '../contract/index.ts';
import type { ModelToolCall, ToolResult } from '../models/index.ts';
import type { ToolCallContext, ToolFunction, ToolOutcome } from '../tools/index.ts';
import type { ReplyListener } from './reply-progress.ts';
import type { ReplyRound } from './reply-rounds.ts';
import { toolCallKey } from './tool-call-key.ts';

/** Calls of one round. */
const MAX_CALLS_PER_ROUND = 16;
/** Calls of a reply. */
const MAX_CALLS_PER_REPLY = 64;
/** Characters of arguments and results in a reply, after which no more calls are made. */
const MAX_CALL_CHARS = 512 * 1024;
const MAX_ID_CHARS = 100;

/** The calls that a model asks for in a round. */
export interface AdmittedCalls {
	/** The calls that are made. */
	admitted: ToolCall[];
	/** The calls that are not made, with the result that the model gets. They are not stored, and their arguments are dropped. */
	refused: ToolResult[];
}

/**
 * Decides which of the calls that a model asks for in a round are made: the first ones, within the limits of a round and a
 * reply.
 * @param earlier the calls of the rounds before
 */
export function admitCalls(
	requested: readonly ModelToolCall[],
	functions: readonly ToolFunction[],
	earlier: readonly ToolCall[],
): AdmittedCalls {
	const ids = new Set(earlier.map(({ id }) => id));
	const admitted: ToolCall[] = [];
	const refused: ToolResult[] = [];
	let chars = earlier.reduce((sum, call) => sum + charsOf(call), 0);
	let refusal: string | null = null;
	for (const call of requested) {
		const id = uniqueId(call.id, ids);
		ids.add(id);
		if (admitted.length === MAX_CALLS_PER_ROUND) refusal ??= `at most ${MAX_CALLS_PER_ROUND} at once`;
		if (earlier.length + admitted.length === MAX_CALLS_PER_REPLY)
			refusal ??= 'this reply has made the maximum number of calls';
		if (chars > MAX_CALL_CHARS) refusal ??= 'the results of tools have reached the limit of this reply';
		if (refusal !== null) {
			const result = `This call was not made: ${refusal}.`;
			refused.push({ id, name: call.name, arguments: {}, result, is_error: true });
			continue;
		}
		const toolCall: ToolCall = {
			id,
			tool_id: functions.find(({ name }) => name === call.name)?.tool_id ?? '',
			name: call.name,
			arguments: call.arguments,
			result: null,
			status: 'running',
			duration_ms: null,
		};
		chars += charsOf(toolCall);
		admitted.push(toolCall);
	}
	return { admitted, refused };
}

/**
 * Makes the calls of a round concurrently, and reports the end of each.
 * @param round is kept up to date
 * @param earlier the calls of the rounds before
 */
export function runCalls(
	messageId: string,
	round: ReplyRound,
	earlier: readonly ToolCall[],
	functions: readonly ToolFunction[],
	{ listener, signal, span }: { listener: Pick<ReplyListener, 'toolCall'>; signal: AbortSignal; span: Span },
): Promise<ToolResult[]> {
	const calls = [...round.calls];
	const results = calls.map(async (call, index): Promise<ToolResult> => {
		const key = toolCallKey(messageId, [...earlier, ...calls.slice(0, index + 1)]);
		const started = performance.now();
		const { result, is_error } = await inSpan(span.child('execute_tool', 'client'), async (own) => {
			own.set({
				'gen_ai.operation.name': 'execute_tool',
				'gen_ai.tool.name': call.name,
				'parley.tool_id': call.tool_id,
			});
			const outcome = await callFunction(call, functions, { key, traceHeaders: own.headers }, signal);
			if (outcome.is_error) own.set({ 'error.type': 'tool_error' });
			return outcome;
		});
		signal.throwIfAborted();
		const duration_ms = Math.round(performance.now() - started);
		const ended: ToolCall = { ...call, result, status: is_error ? 'failed' : 'completed', duration_ms };
		round.calls[index] = ended;
		listener.toolCall(ended);
		return { id: call.id, name: call.name, arguments: call.arguments, result, is_error };
	});
	return Promise.all(results);
}

async function callFunction(
	call: ToolCall,
	functions: readonly ToolFunction[],
	context: ToolCallContext,
	signal: AbortSignal,
): Promise<Pick<ToolOutcome, 'result' | 'is_error'>> {
	const callee = functions.find(({ name }) => name === call.name);
	if (callee) return callee.call(call.arguments, signal, context);
	const names = functions.map(({ name }) => name).join(', ');
	return { result: `There is no tool of this name. There are: ${names || 'none'}.`, is_error: true };
}

function charsOf({ arguments: args, result }: ToolCall): number {
	return (JSON.stringify(args)?.length ?? 0) + (typeof result === 'string' ? result.length : 0);
}

/** The provider's id of a call; a new one where that is missing, very long, or used before in this reply. */
function uniqueId(id: string, taken: ReadonlySet<string>): string {
	if (id !== '' && id.length <= MAX_ID_CHARS && !taken.has(id)) return id;
	let number = taken.size + 1;
	while (taken.has(`call_${number}`)) number++;
	return `call_${number}`;
}
