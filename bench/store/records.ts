import { newId } from '../../src/base/index.ts';
import type { Commit, ConversationRecord, MessageRecord } from '../../src/store/index.ts';

const QUESTION = 'Where is my order, and can I still return a part of it? I ordered two weeks ago.';
const REPLY =
	'Your order left our warehouse on Monday and should arrive within two working days. You can return any part of it within thirty days: open the order, choose what goes back, and print the label.';
const DAY_MS = 86_400_000;

type Owner = Pick<ConversationRecord, 'workspace_id' | 'assistant_id' | 'deployment_id'>;

/** A typical conversation of a shop's visitor. */
export function conversationRecord(owner: Owner, now = Date.now()): ConversationRecord {
	const visitor = newId('request').slice(-12);
	return {
		id: newId('conversation'),
		version: 1,
		...owner,
		channel: 'widget',
		status: 'active',
		title: 'Where is my order, and can I still return a part of it?',
		metadata: { page_url: `https://shop.example/orders/${visitor}`, locale: 'en-GB', plan: 'gold' },
		end_user_id: visitor,
		end_user: { id: visitor, name: 'Ada Lovelace', email: `${visitor}@customer.example` },
		handled_by: 'model',
		taken_over_by: null,
		requested_person_at: null,
		contact_email: null,
		message_count: 2,
		last_message_at: now,
		created_at: now,
		updated_at: now,
		archived_at: null,
		assignee_id: null,
		cost_micros: null,
		visitor_id: null,
	};
}

/** A question in a conversation, or the reply to one. */
export function messageRecord(
	conversation: ConversationRecord,
	role: 'user' | 'assistant',
	seq: number,
	now = Date.now(),
): MessageRecord {
	const asked = role === 'user';
	return {
		id: newId('message'),
		version: 1,
		workspace_id: conversation.workspace_id,
		conversation_id: conversation.id,
		seq,
		role,
		author: asked ? { type: 'visitor', name: 'Ada Lovelace' } : { type: 'model', name: null },
		content: asked ? QUESTION : REPLY,
		status: 'completed',
		model: asked ? null : 'openai/gpt-5',
		citations: [],
		tool_calls: [],
		usage: asked ? null : { input_tokens: 812, output_tokens: 47 },
		error: null,
		feedback: null,
		feedback_comment: null,
		answered_by: asked ? null : 'documents',
		first_token_ms: asked ? null : 180,
		duration_ms: asked ? null : 420,
		cost_micros: null,
		attempts: asked ? 0 : 1,
		created_at: now,
		completed_at: now,
	};
}

/** The commit of a message that starts a turn: conversation, question, the started reply, their events and the stored response. */
export function messageCommit(conversation: ConversationRecord): { commit: Commit; next: ConversationRecord } {
	const now = Date.now();
	const { id, workspace_id, version, message_count } = conversation;
	const question = messageRecord(conversation, 'user', message_count + 1, now);
	const reply = { ...messageRecord(conversation, 'assistant', message_count + 2, now), content: '' };
	const set = { message_count: message_count + 2, last_message_at: now, updated_at: now };
	const event = (stream: string, data: unknown, subject: string | null) => ({
		id: newId('event'),
		stream,
		type: 'message.created',
		data,
		subject,
		created_at: now,
	});
	const commit: Commit = {
		expect: [{ kind: 'conversations', id, version }],
		write: [
			{ op: 'patch', kind: 'conversations', id, set },
			{ op: 'insert', kind: 'messages', record: question },
			{ op: 'insert', kind: 'messages', record: reply },
		],
		events: [
			event(workspace_id, { ...question, workspace_id: undefined, version: undefined }, id),
			event(id, { message_id: question.id }, null),
			event(id, { message_id: reply.id, text: 'opens' }, null),
		],
		idempotency: {
			scope: `${workspace_id} POST /api/v1/messages`,
			key: newId('request'),
			body_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
			status: 102,
			body: JSON.stringify({ conversation_id: id, question_id: question.id, reply_id: reply.id }),
			subject: id,
			expires_at: now + DAY_MS,
		},
	};
	return { commit, next: { ...conversation, ...set, version: version + 1 } };
}
