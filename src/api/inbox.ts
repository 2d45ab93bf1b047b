import type { Caller } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import type { OperationInput, Operations } from '../contract/index.ts';
import { exportConversation, type Inbox, type InboxUser } from '../inbox/index.ts';
import type { InboxFilter, Store } from '../store/index.ts';
import { type Handler, RawResponse } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type InboxOperation =
	| 'listInbox'
	| 'getInboxEntry'
	| 'countInbox'
	| 'listAssignees'
	| 'readConversation'
	| 'readInbox'
	| 'exportConversation';

export interface InboxHandlersOptions {
	store: Store;
	inbox: Inbox;
	cursors: Cursors;
}

/** The inbox: conversations by activity, search in messages, what is read. */
export function inboxHandlers({ store, inbox, cursors }: InboxHandlersOptions): {
	[K in InboxOperation]: Handler<Operations[K]>;
} {
	return {
		async listInbox({ caller, query }) {
			const { limit: _limit, cursor: _cursor, search, ...filters } = query;
			const user = userOf(caller);
			const list = `inbox ${caller.workspaceId} ${user.id} ${JSON.stringify([search, Object.entries(filters).sort()])}`;
			const page = cursors.read(list, query);
			const { entries, next } = await inbox.list(user, filterOf(caller, filters), { search, ...page });
			return { data: entries, next_cursor: next && cursors.cursorAt(list, page, next) };
		},

		getInboxEntry: ({ caller, params }) => inbox.entry(userOf(caller), params.id),

		countInbox: ({ caller }) => inbox.counts(userOf(caller), caller.userSession?.user.id ?? null),

		async listAssignees({ caller, query }) {
			const list = `assignees ${caller.workspaceId}`;
			const page = cursors.read(list, query, 'asc');
			const where = { workspace_id: caller.workspaceId };
			const records = await store.list('users', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, ({ id, name, email }) => ({ id, name: name || email }));
		},

		readConversation: ({ caller, params, body, commit }) =>
			commit(inbox.markRead(userOf(caller), params.id, body.last_read), (result) => result),

		async exportConversation({ caller, params, query }) {
			const record = await store.get('conversations', params.id);
			if (record?.workspace_id !== caller.workspaceId)
				throw new AppError('not_found', 'The conversation does not exist.');
			const { contentType, fileName, body } = await exportConversation(store, record, query.format ?? 'json');
			const headers: [string, string][] = [
				['Content-Type', contentType],
				['Cache-Control', 'no-store'],
				['Content-Disposition', `attachment; filename="${fileName}"`],
				['x-content-type-options', 'nosniff'],
			];
			return new RawResponse({ status: 200, headers, body });
		},

		readInbox: ({ caller, commit }) => commit(inbox.markAllRead(userOf(caller)), (result) => result),
	};
}

/** Who has read what: the user, or the API key. A user has read what is older than the account. */
function userOf({ workspaceId, credentialId, userSession }: Caller): InboxUser {
	const user = userSession?.user;
	return { workspaceId, id: user?.id ?? credentialId, since: user?.created_at ?? 0 };
}

function filterOf(caller: Caller, query: OperationInput<Operations['listInbox']>['query']): InboxFilter {
	return {
		workspaceId: caller.workspaceId,
		status: query.status ?? 'active',
		deploymentId: query.deployment_id,
		assigneeId: assigneeOf(caller, query.assignee),
		isUnread: query.unread,
		isWaiting: query.waiting,
		isRatedDown: query.rated_down,
		isUnanswered: query.unanswered,
	};
}

/** @throws AppError `invalid_request` for `me` without a user */
function assigneeOf({ userSession }: Caller, assignee: string | undefined): string | null | undefined {
	if (assignee === 'none') return null;
	if (assignee !== 'me') return assignee;
	if (userSession) return userSession.user.id;
	const message = 'must be the id of a user or `none`: an API key is no person';
	throw new AppError('invalid_request', `/assignee ${message}.`, { details: [{ path: '/assignee', message }] });
}
