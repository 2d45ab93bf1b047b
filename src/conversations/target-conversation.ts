import { AppError, type Clock, newId } from '../base/index.ts';
import type { EndUser } from '../contract/index.ts';
import type { ConversationRecord, DeploymentRecord, FenceOf, Store } from '../store/index.ts';
import { requireMetadata } from './metadata.ts';
import { titleOf } from './title.ts';

/** A message to be sent. Its sender may send to this deployment. */
export interface OutgoingMessage {
	deployment: DeploymentRecord;
	/** Absent: the message starts a conversation. */
	conversation_id: string | undefined;
	content: string;
	/** Stored with a new conversation; ignored later. */
	metadata: Record<string, unknown> | undefined;
	channel: ConversationRecord['channel'];
	end_user: EndUser | null;
	/** The account of the visitor, a keyed hash; absent for clients of the API. Called if the reply costs something. */
	visitorId?: () => string;
}

/** The conversation that a message goes to. */
export interface TargetConversation {
	id: string;
	/** The record to insert; null where the conversation exists. */
	newRecord: ConversationRecord | null;
	/** The model that replies. */
	model: string;
}

/**
 * Finds the conversation that a message continues, or makes one.
 * @throws AppError `not_found`, `assistant_archived`, `invalid_request`
 */
export async function targetConversation(
	{ store, clock, fenceOf }: { store: Pick<Store, 'get'>; clock: Clock; fenceOf?: FenceOf },
	message: OutgoingMessage,
): Promise<TargetConversation> {
	const { conversation_id, deployment } = message;
	const existing = conversation_id === undefined ? null : await existingConversation(store, message, conversation_id);
	const assistant = await store.get('assistants', existing?.assistant_id ?? deployment.assistant_id);
	if (!assistant) throw new AppError('not_found', 'The assistant does not exist.');
	if (existing) return { id: existing.id, newRecord: null, model: assistant.model };
	if (assistant.status === 'archived') throw new AppError('assistant_archived');
	const newRecord = newConversation(newConversationId(fenceOf), message, clock.now());
	return { id: newRecord.id, newRecord, model: assistant.model };
}

/**
 * The conversation that a message continues. To clients of its workspace a 404 says which field is wrong. Visitors and
 * other workspaces do not learn that the conversation exists.
 */
async function existingConversation(
	store: Pick<Store, 'get'>,
	{ deployment, channel }: OutgoingMessage,
	id: string,
): Promise<ConversationRecord> {
	const record = await store.get('conversations', id);
	if (record?.deployment_id === deployment.id) return record;
	const path = '/conversation_id';
	if (channel === 'api' && record?.workspace_id === deployment.workspace_id) {
		throw new AppError('not_found', 'conversation_id names a conversation of another deployment than deployment_id.', {
			details: [{ path, message: 'names a conversation of another deployment than /deployment_id' }],
		});
	}
	throw new AppError('not_found', 'The conversation that conversation_id names does not exist.', {
		details: [{ path, message: 'names no conversation' }],
	});
}

/** Ids that are tried for a new conversation: one of each shard, and more. */
const MAX_IDS = 1_000;

/** An id that this node serves; any id where it serves nothing, and the message is passed to the node that serves it. */
function newConversationId(fenceOf: FenceOf | undefined): string {
	let id = newId('conversation');
	for (let tried = 1; fenceOf?.(id) === null && tried < MAX_IDS; tried++) id = newId('conversation');
	return id;
}

function newConversation(
	id: string,
	{ deployment, content, metadata = {}, channel, end_user }: OutgoingMessage,
	now: number,
): ConversationRecord {
	requireMetadata(metadata);
	return {
		id,
		version: 1,
		workspace_id: deployment.workspace_id,
		deployment_id: deployment.id,
		assistant_id: deployment.assistant_id,
		channel,
		status: 'active',
		title: titleOf(content),
		metadata,
		end_user_id: end_user?.id ?? null,
		end_user,
		handled_by: 'model',
		taken_over_by: null,
		requested_person_at: null,
		contact_email: null,
		message_count: 0,
		last_message_at: null,
		created_at: now,
		updated_at: now,
		archived_at: null,
		assignee_id: null,
		cost_micros: null,
		visitor_id: null,
	};
}
