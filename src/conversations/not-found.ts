import { AppError } from '../base/index.ts';
import type { ConversationRecord } from '../store/index.ts';

export function conversationNotFound(): AppError {
	return new AppError('not_found', 'The conversation does not exist.');
}

/** The conversation existed when the request came. */
export function conversationErased(): AppError {
	return new AppError('not_found', 'The conversation was erased.');
}

/** @throws AppError `not_found` for another workspace's conversation */
export function requireSameWorkspace(record: ConversationRecord, workspaceId: string): void {
	if (record.workspace_id !== workspaceId) throw conversationNotFound();
}
