import type { ToolCall } from '../contract/index.ts';
import {
	type Commit,
	type ConversationRecord,
	expectVersion,
	type MessageRecord,
	type NewEvent,
} from '../store/index.ts';
import { callEvent, streamEvent } from './conversation-events.ts';
import { callsOf, patchCall, type ReplyRound, stopIfRunning } from './reply-rounds.ts';
import type { Billing, Turn } from './turn-state.ts';

/**
 * The commit that restarts a failed reply to the same stored question, from its stored rounds on. When the reply ends, the
 * workspace gets its event once more: receivers of events must learn that the reply did not stay failed.
 */
export function rewriteTurn(
	conversation: ConversationRecord,
	question: MessageRecord,
	failed: MessageRecord,
	rounds: readonly ReplyRound[],
	model: string,
	billing: Billing,
	now: number,
): { commit: Commit; turn: Turn } {
	const set = {
		model,
		content: '',
		status: 'in_progress' as const,
		citations: [],
		tool_calls: [],
		// Of the stored rounds, from which the reply continues. The failed reply was charged for it.
		usage: rounds.at(-1)?.usage ?? null,
		error: null,
		answered_by: null,
		first_token_ms: null,
		duration_ms: null,
		feedback: null,
		feedback_comment: null,
		attempts: 1,
		completed_at: null,
	};
	return restartCommit({ conversation, question, reply: failed, rounds, billing }, set, now);
}

/** The commit that restarts a reply that a crash interrupted, from its stored rounds on. */
export function restartTurn(interrupted: Turn, now: number): { commit: Commit; turn: Turn } {
	return restartCommit(interrupted, { attempts: interrupted.reply.attempts + 1, tool_calls: [] }, now);
}

/** `message.reset` voids what followers got before: the calls of the stored rounds are sent to them again. */
function restartCommit(
	{ conversation, question, reply, rounds, billing }: Turn,
	set: Partial<Omit<MessageRecord, 'id' | 'version' | 'created_at'>>,
	now: number,
): { commit: Commit; turn: Turn } {
	const calls = callsOf(rounds);
	const stopped = calls.flatMap((call, at) =>
		call.status === 'running' ? [patchCall(reply.id, at + 1, stopIfRunning(call))] : [],
	);
	const commit: Commit = {
		expect: [expectVersion('messages', reply)],
		write: [{ op: 'patch', kind: 'messages', id: reply.id, set }, ...stopped],
		events: [
			streamEvent(conversation, 'message.reset', { message_id: reply.id, text: 'opens' }, now),
			...calls.flatMap((call) => repeatedCallEvents(conversation, reply.id, stopIfRunning(call), now)),
		],
	};
	const keptRounds = rounds.map((round) => ({ ...round, calls: round.calls.map(stopIfRunning) }));
	const next = { ...reply, ...set, version: reply.version + 1 };
	return { commit, turn: { conversation, question, reply: next, rounds: keptRounds, billing } };
}

/** The event of a call's start, and of its end unless it was interrupted. */
function repeatedCallEvents(
	conversation: ConversationRecord,
	messageId: string,
	call: ToolCall,
	now: number,
): NewEvent[] {
	const started: ToolCall = { ...call, status: 'running', result: null, duration_ms: null };
	const events = call.status === 'stopped' ? [started] : [started, call];
	return events.map((each) => callEvent(conversation, messageId, each, now));
}
