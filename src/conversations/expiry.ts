import { type Commit, type ConversationRecord, expectVersion, type WorkspaceRecord } from '../store/index.ts';
import { eraseWrite } from './erasure.ts';

/** What a workspace keeps no longer: conversations in which nothing was said since a time. */
export interface Expiry {
	/** As it was when its retention was looked at. */
	workspace: Pick<WorkspaceRecord, 'id' | 'version'>;
	/** Milliseconds since the epoch. */
	idleSince: number;
}

/**
 * The commit that erases a conversation of which the time is over, as a purge does: without an event; null where it is
 * not. It is refused where the workspace was changed since: its retention may be longer now.
 */
export function expireConversation(record: ConversationRecord, { workspace, idleSince }: Expiry): Commit | null {
	if (record.workspace_id !== workspace.id || (record.last_message_at ?? record.created_at) >= idleSince) return null;
	return {
		expect: [expectVersion('workspaces', workspace), expectVersion('conversations', record)],
		write: [eraseWrite(record.id)],
	};
}
