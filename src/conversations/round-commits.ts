import type { ToolCall } from '../contract/index.ts';
import { type Commit, expectVersion } from '../store/index.ts';
import { callEvent, workspaceEvent } from './conversation-events.ts';
import { callsOf, insertRound, patchCall, type ReplyRound } from './reply-rounds.ts';
import type { Turn } from './turn.ts';

/** The commit that stores a round whose calls are about to be made. */
export function beginRound(turn: Turn, round: ReplyRound, now: number): { commit: Commit; turn: Turn } {
	const { conversation, reply, rounds } = turn;
	const commit: Commit = {
		expect: [expectVersion('messages', reply)],
		write: insertRound(reply.id, rounds, round, now),
		events: round.calls.map((call) => callEvent(conversation, reply.id, call, now)),
	};
	return { commit, turn: { ...turn, rounds: [...rounds, round] } };
}

/** The commit that stores the end of a call. */
export function endCall(turn: Turn, call: ToolCall, now: number): { commit: Commit; turn: Turn } {
	const { conversation, reply, rounds } = turn;
	const position = callsOf(rounds).findIndex(({ id }) => id === call.id);
	if (position < 0) throw new Error('a call ended that had not begun');
	const events = [callEvent(conversation, reply.id, call, now)];
	if (call.status === 'failed' && call.tool_id !== '') {
		const failure = {
			tool_id: call.tool_id,
			tool_name: call.name,
			conversation_id: conversation.id,
			message_id: reply.id,
			error: call.result,
		};
		events.push(workspaceEvent(conversation, 'tool.execution_failed', failure, now));
	}
	const commit: Commit = {
		expect: [expectVersion('messages', reply)],
		write: [patchCall(reply.id, position + 1, call)],
		events,
	};
	const replaceCall = (other: ToolCall) => (other.id === call.id ? call : other);
	return {
		commit,
		turn: { ...turn, rounds: rounds.map((round) => ({ ...round, calls: round.calls.map(replaceCall) })) },
	};
}
