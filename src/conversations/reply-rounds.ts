import type { SearchResult, ToolCall, Usage } from '../contract/index.ts';
import type { CompletedRound, Passage, ToolResult } from '../models/index.ts';
import type { ListQuery, MessageRecord, ReplyCallRecord, ReplyRoundRecord, Store, Write } from '../store/index.ts';

/** The passages that a reply is based on. */
export interface Grounding {
	passages: readonly Passage[];
	/** How well the knowledge bases answer the question, 0..1. */
	confidence: number;
	/** Synonyms of words of the question, which the built-in model uses. */
	synonyms?: SearchResult['synonyms'];
	/** The search for passages has failed. */
	search_failed?: boolean;
}

/**
 * A round of a reply: the model's text, and the calls that it asked for. It is stored before the calls are made, so that a
 * reply continues from it after a crash or a failure: no call is made twice.
 */
export interface ReplyRound {
	/** From 1. */
	number: number;
	/** The full name of the model that wrote it. */
	model: string;
	text: string;
	/** The usage of the reply up to these calls. */
	usage: Usage | null;
	/** Data of the model that it gets back with the round; null if it has none. */
	memory: unknown;
	/** Stored with the first round: the citations in the text keep their meaning. */
	grounding: Grounding | null;
	calls: ToolCall[];
}

/** More than a reply has. */
const MAX_RECORDS = 1_000;

/** The result that a model gets for an interrupted call. */
const INTERRUPTED_RESULT = 'This call was cut off before its result came. Whether it took effect is not known.';

/** The stored rounds of a reply, in order. A call that is `running` there was interrupted. */
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

/** The writes that store a round with its calls, which are about to be made. */
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

/** The write that stores the end of a call. */
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

/** The text of the rounds. Each round with a text starts a paragraph. */
export function textOf(rounds: readonly ReplyRound[]): string {
	return rounds
		.map(({ text }) => text)
		.filter((text) => text !== '')
		.join('\n\n');
}

/** A running call, as it ends with its reply: without a result. */
export function stopIfRunning(call: ToolCall): ToolCall {
	return call.status === 'running' ? { ...call, status: 'stopped' } : call;
}

/**
 * A round as the next call of the model gets it.
 * @param model the full name of the model that continues; it does not get the memory of another model
 */
export function toCompletedRound({ text, calls, memory, model: writtenBy }: ReplyRound, model: string): CompletedRound {
	const step = { text, calls: calls.map(toToolResult) };
	return memory === null || writtenBy !== model ? step : { ...step, memory };
}

function toToolResult({ id, name, arguments: args, result, status }: ToolCall): ToolResult {
	const text = typeof result === 'string' ? result : INTERRUPTED_RESULT;
	return { id, name, arguments: args, result: text, is_error: status !== 'completed' };
}
