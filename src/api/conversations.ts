import { AppError } from '../base/index.ts';
import type { Operations } from '../contract/index.ts';
import { type Conversations, listMessages, presentConversation, presentMessage } from '../conversations/index.ts';
import type { ConversationRecord, ListPosition, MessageRecord, Store } from '../store/index.ts';
import { type Handler, type HandlerFunction, personOf, RawResponse, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';
import { resumePosition } from './stream-request.ts';

type ConversationOperation =
	| 'listConversations'
	| 'getConversation'
	| 'updateConversation'
	| 'deleteConversation'
	| 'listConversationMessages'
	| 'followConversation'
	| 'takeOverConversation'
	| 'releaseConversation'
	| 'sayInConversation'
	| 'setPresence'
	| 'suggestReply'
	| 'stopReply';

export interface ConversationHandlersOptions {
	store: Store;
	conversations: Conversations;
	cursors: Cursors;
}

/** The list position of a message in its conversation. */
export function bySequence({ seq, id }: MessageRecord): ListPosition {
	return { at: seq, id };
}

function parseTimestamp(text: string | undefined): number | undefined {
	return text === undefined ? undefined : Date.parse(text);
}

/** Conversations: read, change, archive, erase, follow, stop. */
export function conversationHandlers({ store, conversations, cursors }: ConversationHandlersOptions): {
	[K in ConversationOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<ConversationRecord> => {
		const record = await store.get('conversations', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	};

	const requireUser = async (workspaceId: string, id: string): Promise<void> => {
		if ((await store.get('users', id))?.workspace_id === workspaceId) return;
		throw new AppError('not_found', 'The user does not exist.');
	};

	const handOverHandler =
		(
			to: ConversationRecord['handled_by'],
		): HandlerFunction<Operations['takeOverConversation'] | Operations['releaseConversation']> =>
		async ({ caller, params, ifMatchVersions, requestReceipt, auditWrites }) => {
			const writes = auditWrites(params);
			const change = { workspaceId: caller.workspaceId, to, by: personOf(caller), versions: ifMatchVersions, writes };
			const record = await conversations.handOver(params.id, change, requestReceipt());
			return withVersion(presentConversation(record), record);
		};

	return {
		async listConversations({ caller, query }) {
			const { deployment_id, assistant_id, status, end_user_id, requested_person } = query;
			const createdAfter = parseTimestamp(query.created_after);
			const createdBefore = parseTimestamp(query.created_before);
			// The filters in a canonical form and order: the spelling of the query must not make another list.
			const filters = [deployment_id, assistant_id, status, end_user_id, requested_person, createdAfter, createdBefore];
			const list = `conversations ${caller.workspaceId} ${JSON.stringify(filters)}`;
			const page = cursors.read(list, query);
			const records = await store.list('conversations', {
				...page,
				limit: page.limit + 1,
				where: {
					...{ workspace_id: caller.workspaceId, deployment_id, assistant_id, status, end_user_id },
					...(requested_person === false ? { requested_person_at: null } : {}),
				},
				notNull: requested_person ? 'requested_person_at' : undefined,
				createdAfter,
				createdBefore,
			});
			return cursors.page(list, page, records, byCreation, presentConversation);
		},

		async getConversation({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentConversation(record), record);
		},

		async updateConversation({ caller, params, body, ifMatchVersions, auditWrites }) {
			if (body.assignee_id) await requireUser(caller.workspaceId, body.assignee_id);
			const writes = auditWrites(params);
			const change = { workspaceId: caller.workspaceId, patch: body, versions: ifMatchVersions, writes };
			const record = await conversations.change(params.id, change);
			return withVersion(presentConversation(record), record);
		},

		async deleteConversation({ caller, params, query, ifMatchVersions, auditWrites }) {
			const writes = auditWrites(params);
			const target = { workspaceId: caller.workspaceId, versions: ifMatchVersions, writes };
			if (query.purge) {
				await conversations.erase(params.id, target);
				return { id: params.id, deleted: true as const };
			}
			return presentConversation(await conversations.change(params.id, { ...target, patch: { status: 'archived' } }));
		},

		async listConversationMessages({ caller, params, query }) {
			const { id } = await find(caller.workspaceId, params.id);
			const list = `messages ${id}`;
			const page = cursors.read(list, query, 'asc');
			const records = await listMessages(store, {
				...page,
				limit: page.limit + 1,
				where: { conversation_id: id },
			});
			return cursors.page(list, page, records, bySequence, presentMessage);
		},

		async followConversation({ caller, params, query, request }) {
			const conversation = await find(caller.workspaceId, params.id);
			const after = resumePosition(request, query.last_event_id);
			const events = conversations.follow(conversation, { after, audience: 'api' });
			return new RawResponse({ events });
		},

		takeOverConversation: handOverHandler('human'),
		releaseConversation: handOverHandler('model'),

		async sayInConversation({ caller, params, body, requestReceipt }) {
			const message = {
				workspaceId: caller.workspaceId,
				content: body.content,
				// The name of a key is for the workspace's people only.
				name: body.name ?? caller.userSession?.user.name ?? null,
			};
			const sent = await conversations.sendAgentMessage(params.id, message, requestReceipt());
			conversations.people.presence.endTyping(params.id, personOf(caller));
			return presentMessage(sent);
		},

		async setPresence({ caller, params, body }) {
			const { id } = await find(caller.workspaceId, params.id);
			const { presence } = conversations.people;
			presence.set(id, personOf(caller), body.state === 'left' ? null : body.state);
			return { people: presence.peopleIn(id) };
		},

		async suggestReply({ caller, params, request }) {
			const { id: personId } = personOf(caller);
			return conversations.suggestReply(params.id, {
				workspaceId: caller.workspaceId,
				personId,
				signal: request.signal,
			});
		},

		async stopReply({ caller, params }) {
			const { id } = await find(caller.workspaceId, params.id);
			await conversations.stop(id);
			const record = await find(caller.workspaceId, id);
			return withVersion(presentConversation(record), record);
		},
	};
}
