import type { ToolCall, Usage } from '../contract/index.ts';
import type { CompletedRound, Passage, ToolResult } from '../models/index.ts';
import type { ListQuery, MessageRecord, ReplyCallRecord, ReplyRoundRecord, Store, Write } from '../store/index.ts';

/** What a reply is answered from. */
export interface Grounding {
	passages: readonly Passage[];
	/** How well the knowledge bases answer the question, 0..1. */
	confidence: number;
	/** Whether the search for them has failed. */
	search_failed?: boolean;
}

/**
 * A round of a reply: what its model said before it asked for calls, and these. It is stored before they are carried out,
 * so that a reply that a crash cuts off, or that fails, goes on from it: what a call has changed elsewhere is not done again.
 */
export interface ReplyRound {
	/** From 1. */
	number: number;
	/** The full name of the model that wrote it. */
	model: string;
	text: string;
	/** What the reply has cost up to these calls. */
	usage: Usage | null;
	/** What the model wants to be given again with the round; null where it wants nothing. */
	memory: unknown;
	/** With the first round: citations of its text keep their meaning. */
	grounding: Grounding | null;
	calls: ToolCall[];
}

/** More than a reply has. */
const MAX_RECORDS = 1_000;

/** What a model is told of a call without a result. */
const INTERRUPTED_RESULT = 'This call was cut off before its result came. Whether it took effect is not known.';

/** The rounds that are stored of a reply, in order; a call that nobody carries out any more has been cut off. */
export async function roundsOf(store: Pick<Store, 'list'>, messageId: string): Promise<ReplyRound[]> {
	const query = { where: { message_id: messageId }, order: 'asc', limit: MAX_RECORDS } as const;
	const [rounds, calls] = await Promise.all([store.list('reply_rounds', query), callRecordsOf(store, messageId)]);
	return rounds
		.toSorted((a, b) => a.number - b.number)
		.map(({ number, model, text, usage, memory, grounding }) => ({
			number,
			model,
			text,
			usage,
			memory,
			grounding: grounding as Grounding | null,
			calls: calls.filter(({ round }) => round === number).map(({ call }) => call),
		}));
}

/** Messages as they are listed: a reply that is being written with its calls so far. */
export async function listMessages(store: Pick<Store, 'list'>, query: ListQuery<'messages'>): Promise<MessageRecord[]> {
	const messages = await store.list('messages', query);
	return Promise.all(
		messages.map(async (message) => {
			if (message.status !== 'in_progress') return message;
			return { ...message, tool_calls: (await callRecordsOf(store, message.id)).map(({ call }) => call) };
		}),
	);
}

async function callRecordsOf(store: Pick<Store, 'list'>, messageId: string): Promise<ReplyCallRecord[]> {
	const calls = await store.list('reply_calls', { where: { message_id: messageId }, order: 'asc', limit: MAX_RECORDS });
	return calls.toSorted((a, b) => a.number - b.number);
}

/** The writes that store a round with its calls, which have begun. */
export function insertRound(
	messageId: string,
	earlier: readonly ReplyRound[],
	round: ReplyRound,
	now: number,
): Write[] {
	const { calls, ...fields } = round;
	const record: Omit<ReplyRoundRecord, 'version'> = {
		...fields,
		id: `${messageId}.${round.number}`,
		message_id: messageId,
		created_at: now,
	};
	const earlierCalls = callsOf(earlier).length;
	return [
		{ op: 'insert', kind: 'reply_rounds', record },
		...calls.map((call, at): Write => {
			const number = earlierCalls + at + 1;
			const key = { id: callRecordId(messageId, number), message_id: messageId, round: round.number, number };
			return { op: 'insert', kind: 'reply_calls', record: { ...key, call, created_at: now } };
		}),
	];
}

/** The write that stores what came of a call. */
export function patchCall(messageId: string, number: number, call: ToolCall): Write {
	return { op: 'patch', kind: 'reply_calls', id: callRecordId(messageId, number), set: { call } };
}

function callRecordId(messageId: string, number: number): string {
	return `${messageId}.call.${number}`;
}

/** All calls of a reply, in order. */
export function callsOf(rounds: readonly ReplyRound[]): ToolCall[] {
	return rounds.flatMap(({ calls }) => calls);
}

/** What was said in the rounds: each that has a text begins a paragraph. */
export function textOf(rounds: readonly ReplyRound[]): string {
	return rounds
		.map(({ text }) => text)
		.filter((text) => text !== '')
		.join('\n\n');
}

/** A call that is under way as it ends when nobody waits for it any more: without a result, for nobody will bring one. */
export function stopIfRunning(call: ToolCall): ToolCall {
	return call.status === 'running' ? { ...call, status: 'stopped' } : call;
}

/**
 * A round as the model that goes on is told of it.
 * @param model the one that goes on; what another one wanted to be given again is nothing to it
 */
export function toCompletedRound({ text, calls, memory, model: writtenBy }: ReplyRound, model: string): CompletedRound {
	const step = { text, calls: calls.map(toToolResult) };
	return memory === null || writtenBy !== model ? step : { ...step, memory };
}

function toToolResult({ id, name, arguments: args, result, status }: ToolCall): ToolResult {
	const text = typeof result === 'string' ? result : INTERRUPTED_RESULT;
	return { id, name, arguments: args, result: text, is_error: status !== 'completed' };
}
