import { latencySlot } from '../../base/index.ts';
import type { Message } from '../../contract/index.ts';

/** An event of a conversation as the log has it. */
export interface LoggedEvent {
	seq: number;
	type: string;
	/** JSON. */
	data: string;
	/** The conversation. */
	subject: string;
	created_at: number;
}

/** What an event adds to a figure, in the hour and the day of a time. */
export interface Addition {
	figure: string;
	key: string;
	at: number;
	value: number;
}

/** What statistics need of a message. Messages of earlier versions have no measurements. */
type CountedMessage = Pick<
	Message,
	'id' | 'role' | 'author' | 'status' | 'citations' | 'tool_calls' | 'model' | 'usage'
> &
	Partial<Pick<Message, 'answered_by' | 'first_token_ms' | 'duration_ms'>>;

/** A rating that was given, changed or removed; `rated_at` is the end of the rated message. */
interface Rating {
	rated_at: number;
	before: Message['feedback'];
	after: Message['feedback'];
}

/** What an event adds to the figures. */
export function additionsOf({ type, data, created_at: at }: LoggedEvent): Addition[] {
	switch (type) {
		case 'conversation.created':
			return [{ figure: 'conversations', key: '', at, value: 1 }];
		case 'conversation.taken_over':
			return [{ figure: 'takeovers', key: '', at, value: 1 }];
		case 'message.created':
			return additionsOfMessage(countedMessage(data), at);
		case 'message.rated':
			return additionsOfRating(JSON.parse(data) as Rating);
		default:
			return [];
	}
}

/** The reply of an event that says that there is no answer; null for other events. */
export function unansweredReply({ type, data }: LoggedEvent): string | null {
	if (type !== 'message.created' || !data.includes('"answered_by":"none"')) return null;
	const { id, answered_by } = JSON.parse(data) as CountedMessage;
	return answered_by === 'none' ? id : null;
}

/** The message of an event; null where the event has no whole message: neither counting nor an erasure may fail because of it. */
function countedMessage(data: string): CountedMessage | null {
	const message = JSON.parse(data) as Partial<CountedMessage>;
	return message.author && message.citations && message.tool_calls ? (message as CountedMessage) : null;
}

function additionsOfMessage(message: CountedMessage | null, at: number): Addition[] {
	if (message === null) return [];
	const one = (figure: string, key: string, value = 1) => ({ figure, key, at, value });
	const additions = [one('messages', message.author.type)];
	if (message.role === 'user')
		return message.answered_by === 'human' ? [...additions, one('answers', 'human')] : additions;
	if (message.author.type === 'human') return additions;
	const { status, model, usage, first_token_ms, duration_ms, citations } = message;
	additions.push(one('answers', outcomeOf(message)));
	if (model) additions.push(one('replies', model));
	if (model && usage) {
		additions.push(one('input_tokens', model, usage.input_tokens), one('output_tokens', model, usage.output_tokens));
	}
	if (typeof first_token_ms === 'number') additions.push(one('first_token_ms', String(latencySlot(first_token_ms))));
	if (typeof duration_ms === 'number' && status === 'completed') {
		additions.push(one('duration_ms', String(latencySlot(duration_ms))));
	}
	const documents = new Set(citations.map(({ document_id }) => document_id));
	for (const id of documents) additions.push(one('cited', id));
	return additions;
}

/** What became of the question of an ended reply. */
function outcomeOf({ status, answered_by, citations, tool_calls }: CountedMessage): string {
	if (answered_by) return answered_by;
	if (status === 'failed') return 'failed';
	if (answered_by === null) return status === 'stopped' ? 'stopped' : 'failed';
	if (citations.length > 0) return 'documents';
	return tool_calls.some((call) => call.status === 'completed') ? 'tools' : 'model';
}

function additionsOfRating({ rated_at: at, before, after }: Rating): Addition[] {
	return (['up', 'down'] as const).flatMap((key) => {
		const value = Number(after === key) - Number(before === key);
		return value === 0 ? [] : [{ figure: 'feedback', key, at, value }];
	});
}
