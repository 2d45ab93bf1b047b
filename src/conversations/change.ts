import { applyMergePatch, mergedFields } from '../base/index.ts';
import type { ConversationPatch } from '../contract/index.ts';
import { type Commit, type ConversationRecord, expectVersion, requireVersion, type Write } from '../store/index.ts';
import { workspaceEvent } from './conversation-events.ts';
import { eraseWrite } from './erasure.ts';
import { requireMetadata } from './metadata.ts';
import { conversationNotFound } from './not-found.ts';
import { presentConversation } from './present.ts';

/** A change that the workspace requests. */
export interface ConversationChange {
	workspaceId: string;
	patch: ConversationPatch;
	/** The versions that the client accepts (If-Match); null: any. */
	versions: readonly number[] | null;
	/** Committed with the change: its record in the audit log. */
	writes?: readonly Write[];
}

/**
 * The commit that changes a conversation's fields, archives or reopens it; null where nothing changes.
 * @throws AppError `not_found`, `precondition_failed`, `invalid_request`
 */
export function changeConversation(
	record: ConversationRecord,
	{ workspaceId, patch, versions, writes = [] }: ConversationChange,
	now: number,
): { commit: Commit; conversation: ConversationRecord } | null {
	if (record.workspace_id !== workspaceId) throw conversationNotFound();
	requireVersion(record, versions);
	const { metadata, ...fields } = patch;
	const set: Partial<ConversationRecord> = { ...mergedFields(record, fields), updated_at: now };
	if (metadata !== undefined) {
		set.metadata = applyMergePatch(record.metadata, metadata);
		requireMetadata(set.metadata);
	}
	const archives = patch.status === 'archived' && record.status === 'active';
	const reopens = patch.status === 'active' && record.status === 'archived';
	const assigns = patch.assignee_id !== undefined && patch.assignee_id !== record.assignee_id;
	const isChange = archives || reopens || assigns || patch.title !== undefined || metadata !== undefined;
	if (!isChange) return null;
	if (archives) set.archived_at = now;
	if (reopens) set.archived_at = null;
	const conversation = { ...record, ...set, version: record.version + 1 };
	const event = (type: string) => workspaceEvent(conversation, type, presentConversation(conversation), now);
	const commit: Commit = {
		expect: [expectVersion('conversations', record)],
		write: [{ op: 'patch', kind: 'conversations', id: record.id, set }, ...writes],
		events: [event('conversation.updated'), ...(archives ? [event('conversation.closed')] : [])],
	};
	return { commit, conversation };
}

/** The commit that erases a conversation for good: its messages, events and stored responses too. */
export function eraseConversation(
	record: ConversationRecord,
	{ workspaceId, versions, writes = [] }: Omit<ConversationChange, 'patch'>,
): Commit {
	if (record.workspace_id !== workspaceId) throw conversationNotFound();
	requireVersion(record, versions);
	return { expect: [expectVersion('conversations', record)], write: [eraseWrite(record.id), ...writes] };
}
