import type { InboxRow } from '../../inbox.ts';
import type { Prepare } from '../statements.ts';

/** Messages that are read to find who waits. A visitor who has sent more since then waits at least since the first of them. */
const RECENT_MESSAGES = 50;

interface Conversation {
	workspace_id: string;
	status: InboxRow['status'];
	deployment_id: string;
	assignee_id: string | null;
	handled_by: 'model' | 'human';
	requested_person_at: number | null;
	last_seq: number;
	activity_at: number;
	rated_down: 0 | 1;
}

interface RecentMessage {
	role: 'user' | 'assistant';
	author: 'visitor' | 'model' | 'human';
	status: 'completed' | 'in_progress' | 'stopped' | 'failed';
	created_at: number;
	answered_by: string | null;
}

const CONVERSATION = `SELECT workspace_id, status, deployment_id, assignee_id, handled_by, requested_person_at,
	message_count AS last_seq, coalesce(last_message_at, created_at) AS activity_at,
	EXISTS (SELECT 1 FROM messages WHERE conversation_id = conversations.id AND feedback = 'down') AS rated_down
	FROM conversations WHERE id = ?`;

const RECENT = `SELECT role, author ->> 'type' AS author, status, created_at, answered_by FROM messages
	WHERE conversation_id = ? ORDER BY seq DESC LIMIT ${RECENT_MESSAGES}`;

const STORE = `INSERT OR REPLACE INTO inbox_rows (conversation_id, workspace_id, status, deployment_id, assignee_id, activity_at,
	last_seq, waiting_since, rated_down, unanswered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Derives the inbox row of a conversation. An erased conversation has none. */
export function deriveRow(prepare: Prepare, conversationId: string): void {
	const found = prepare(CONVERSATION).get(conversationId) as Conversation | undefined;
	if (found === undefined) return;
	const recent = prepare(RECENT).all(conversationId) as RecentMessage[];
	const { workspace_id, status, deployment_id, assignee_id, activity_at, last_seq, rated_down } = found;
	const derived = [waitingSince(found, recent), rated_down, isUnanswered(recent) ? 1 : 0];
	prepare(STORE).run(
		...[conversationId, workspace_id, status, deployment_id, assignee_id, activity_at, last_seq],
		...derived,
	);
}

/** Since when the visitor waits: the request for a person, or after a takeover the first message since the last reply. */
function waitingSince(conversation: Conversation, recent: readonly RecentMessage[]): number | null {
	const { status, handled_by, requested_person_at } = conversation;
	if (status === 'archived') return null;
	if (handled_by === 'model') return requested_person_at;
	const lastReply = recent.findIndex(({ role }) => role === 'assistant');
	const unanswered = lastReply < 0 ? recent : recent.slice(0, lastReply);
	return unanswered.at(-1)?.created_at ?? null;
}

function isUnanswered(recent: readonly RecentMessage[]): boolean {
	const reply = recent.find(({ role, status }) => role === 'assistant' && status !== 'in_progress');
	if (reply?.author !== 'model') return false;
	return reply.status === 'failed' || reply.answered_by === 'none';
}
