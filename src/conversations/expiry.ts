import { type Commit, type ConversationRecord, expectVersion, type WorkspaceRecord } from '../store/index.ts';
import { eraseWrite } from './erasure.ts';

/** The conversations whose retention is over: those without a message since a point in time. */
export interface Expiry {
	/** As it was when its retention was read. */
	workspace: Pick<WorkspaceRecord, 'id' | 'version'>;
	/** The version of the conversation's deployment then. */
	deployment_version: number;
	/** Milliseconds since the epoch. */
	idleSince: number;
}

/**
 * The commit that erases a conversation whose retention is over, as a purge does: without an event. Null where it is not
 * over. The commit conflicts if the workspace or the deployment was changed since: its retention may be longer now.
 */
export function expireConversation(
	record: ConversationRecord,
	{ workspace, deployment_version, idleSince }: Expiry,
): Commit | null {
	if (record.workspace_id !== workspace.id || (record.last_message_at ?? record.created_at) >= idleSince) return null;
	return {
		expect: [
			expectVersion('workspaces', workspace),
			{ kind: 'deployments', id: record.deployment_id, version: deployment_version },
			expectVersion('conversations', record),
		],
		write: [eraseWrite(record.id)],
	};
}
