import { newId } from '../../../src/base/index.ts';
import type { NewEvent, Records, Store, Write } from '../../../src/store/index.ts';
import { conversation, message } from '../samples.ts';

type Given<K extends 'conversations' | 'messages'> = Partial<Omit<Records[K], 'version'>>;

/** An event about a conversation, in the stream of its workspace or of its statistics. */
export function eventAbout(
	{ id, workspace_id }: { id: string; workspace_id: string },
	type: string,
	data: unknown,
	created_at: number,
): NewEvent {
	const stream = type === 'message.rated' || type === 'conversation.taken_over' ? 'statistics_' : '';
	return { id: newId('event'), stream: `${stream}${workspace_id}`, type, data, subject: id, created_at };
}

/** A conversation of one question and the model's reply to it, as records and events. */
export function talk(
	workspace_id: string,
	at: number,
	{
		question,
		reply,
		...given
	}: { question?: Given<'messages'>; reply?: Given<'messages'> } & Given<'conversations'> = {},
) {
	const record = conversation({
		...{ workspace_id, message_count: 2, last_message_at: at + 1_000, created_at: at, updated_at: at, ...given },
	});
	const own = { workspace_id, conversation_id: record.id, feedback: null, feedback_comment: null, citations: [] };
	const messages = [
		message({
			...{ ...own, seq: 1, role: 'user', author: { type: 'visitor', name: null }, content: 'What does it cost?' },
			...{ model: null, usage: null, answered_by: null, first_token_ms: null, duration_ms: null, created_at: at },
			...question,
		}),
		message({ ...own, seq: 2, created_at: at + 1_000, ...reply }),
	] as const;
	const write: Write[] = [
		{ op: 'insert', kind: 'conversations', record },
		...messages.map((one): Write => ({ op: 'insert', kind: 'messages', record: one })),
	];
	const events = [
		eventAbout(record, 'conversation.created', { id: record.id }, at),
		...messages.map((one) => eventAbout(record, 'message.created', one, one.created_at)),
	];
	return { id: record.id, record, question: messages[0], reply: messages[1], write, events };
}

/** Adds talks in one commit. */
export async function addTalks(store: Store, talks: ReadonlyArray<ReturnType<typeof talk>>): Promise<void> {
	await store.commit({ write: talks.flatMap(({ write }) => write), events: talks.flatMap(({ events }) => events) });
}
