import { ActorSystem, LocalTransport, type Transport } from '../actors/index.ts';
import { AppError, messageOf, newId } from '../base/index.ts';
import type { EndUser } from '../contract/index.ts';
import { formatPosition, type Outbox, parsePosition, type StreamItem, type StreamPosition } from '../outbox/index.ts';
import type { ConversationRecord, DeploymentRecord, MessageRecord } from '../store/index.ts';
import {
	ConversationActor,
	type ConversationAnswer,
	type ConversationDependencies,
	type ConversationMessage,
	type SentMessage,
} from './conversation-actor.ts';
import type { Audience } from './present.ts';
import { type ConversationEvent, streamConversation } from './stream.ts';

export interface ConversationsOptions extends ConversationDependencies {
	outbox: Outbox;
}

/** A message to be sent, by whoever may send to this deployment. */
export interface OutgoingMessage {
	deployment: DeploymentRecord;
	/** Absent: a conversation begins. */
	conversation_id: string | undefined;
	content: string;
	/** The conversation's, at its start only. */
	metadata: Record<string, unknown> | undefined;
	channel: ConversationRecord['channel'];
	end_user: EndUser | null;
}

/** Messages that may wait in one conversation while a reply is written. */
const WAITING = 16;
const MAX_RESIDENT = 100_000;
const IDLE_MS = 10 * 60_000;
const METADATA_BYTES = 16 * 1024;
const METADATA_DEPTH = 32;
/** How long a message may wait for its turn (ms). */
const TURN_MS = 15 * 60_000;
const STOP_MS = 10_000;
/** After a failure of ours a reply is taken up again, not at once: what failed may need a moment. */
const RESUME_MS = 1_000;

/** Conversations, each owned by an actor. */
export class Conversations implements AsyncDisposable {
	readonly #deps: ConversationsOptions;
	readonly #actors: ActorSystem<ConversationMessage, ConversationAnswer>;
	readonly #transport: Transport<ConversationMessage, ConversationAnswer, StreamItem>;

	constructor(deps: ConversationsOptions) {
		this.#deps = deps;
		this.#actors = new ActorSystem({
			load: async (id, self) => {
				const record = await deps.store.get('conversations', id);
				return new ConversationActor(deps, self, record ?? null, record ? await this.#unfinished(record) : null);
			},
			report: (id, thrown) => this.#recover(id, thrown),
			maxResident: MAX_RESIDENT,
			idleMs: IDLE_MS,
			mailboxLimit: WAITING,
			full: () => new AppError('conversation_busy', undefined, { retry_after: 5 }),
		});
		this.#transport = new LocalTransport(this.#actors, (id, after, signal) =>
			deps.outbox.follow(id, { after: after === undefined ? null : parsePosition(after), signal }),
		);
	}

	/** Takes up the replies that a process before this one did not finish. */
	async start(): Promise<void> {
		for (const { conversation_id } of await this.#deps.store.unfinishedReplies()) {
			this.#actors.tell(conversation_id, { type: 'resume' }, { lane: 'control' });
		}
	}

	/**
	 * Stores a message when its turn comes, and begins the reply to it.
	 * @throws AppError `not_found`, `assistant_archived`, `conversation_archived`, `conversation_busy`
	 */
	async send(message: OutgoingMessage): Promise<SentMessage> {
		const { deployment, end_user } = message;
		const existing = message.conversation_id === undefined ? null : await this.get(deployment, message.conversation_id);
		const assistant = await this.#deps.store.get('assistants', existing?.assistant_id ?? deployment.assistant_id);
		if (!assistant) throw new AppError('not_found', 'The assistant does not exist.');
		if (!existing && assistant.status === 'archived') throw new AppError('assistant_archived');
		const start = existing ? null : this.#draft(message);
		const id = existing?.id ?? (start as ConversationRecord).id;
		const incoming = { content: message.content, author_name: end_user?.name ?? null };
		const answer = await this.#transport.ask(
			id,
			{ type: 'send', message: incoming, model: assistant.model, start },
			{ deadlineMs: TURN_MS },
		);
		if (!('sent' in answer)) throw new Error('a send was not answered as one');
		return answer.sent;
	}

	/** @throws AppError `not_found` also for a conversation of another deployment */
	async get(deployment: DeploymentRecord, conversationId: string): Promise<ConversationRecord> {
		const record = await this.#deps.store.get('conversations', conversationId);
		if (record?.deployment_id !== deployment.id) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	}

	/** The events of a conversation; with `until`, to the end of that reply. */
	follow(
		conversationId: string,
		options: { after: StreamPosition | null; signal: AbortSignal; audience: Audience; until?: string },
	): AsyncGenerator<ConversationEvent, void, undefined> {
		return streamConversation(this.#transport, this.#deps.store, conversationId, { until: null, ...options });
	}

	/**
	 * Waits until a reply has ended, however it ended.
	 * @throws AppError `unavailable` where the signal aborts first
	 */
	async reply({ reply, position }: SentMessage, signal: AbortSignal): Promise<MessageRecord> {
		const after = formatPosition({ seq: position, offset: 0 });
		for await (const item of this.#transport.subscribe(reply.conversation_id, after, signal)) {
			if (item.kind !== 'event' || item.event.data.message_id !== reply.id || item.event.data.text !== 'closes')
				continue;
			const ended = await this.#deps.store.get('messages', reply.id);
			if (ended) return ended;
			throw new AppError('not_found', 'The conversation was erased.');
		}
		throw new AppError('unavailable', 'The reply is still being written. Read the conversation later.', {
			retry_after: 5,
		});
	}

	/** Ends the reply that is being written, keeping its text so far; false where there is none. */
	async stop(conversationId: string): Promise<boolean> {
		const answer = await this.#transport.ask(
			conversationId,
			{ type: 'stop' },
			{ lane: 'control', deadlineMs: STOP_MS },
		);
		if (!('stopped' in answer) || !answer.stopped) return false;
		// Told once it is on disk: a crash after this answer must not bring the reply back.
		await this.reply(answer.stopped, AbortSignal.timeout(STOP_MS));
		return true;
	}

	/** Takes no new messages and lets running replies end. What is cut off by the deadline is taken up at the next start. */
	async drain(deadlineMs: number): Promise<void> {
		await this.#actors.drain(deadlineMs);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#actors.drain(0);
	}

	#draft({ deployment, metadata = {}, channel, end_user }: OutgoingMessage): ConversationRecord {
		checkMetadata(metadata);
		const now = this.#deps.clock.now();
		return {
			id: newId('conversation'),
			version: 1,
			workspace_id: deployment.workspace_id,
			deployment_id: deployment.id,
			assistant_id: deployment.assistant_id,
			channel,
			status: 'active',
			title: null,
			metadata,
			end_user_id: end_user?.id ?? null,
			end_user,
			handled_by: 'model',
			message_count: 0,
			last_message_at: null,
			created_at: now,
			updated_at: now,
			archived_at: null,
		};
	}

	async #unfinished(conversation: ConversationRecord) {
		const last = await this.#deps.store.messagesBefore(conversation.id, conversation.message_count + 1, 2);
		const [question, reply] = last;
		return question && reply?.status === 'in_progress' ? { conversation, question, reply } : null;
	}

	#recover(id: string, thrown: unknown): void {
		this.#deps.log.error({ conversation: id, error: messageOf(thrown) }, 'conversation actor failed');
		setTimeout(() => {
			try {
				this.#actors.tell(id, { type: 'resume' }, { lane: 'control' });
			} catch {
				// Shutting down: the next start takes it up.
			}
		}, RESUME_MS).unref();
	}
}

/** @throws AppError `invalid_request` for metadata that are too deep or too large */
function checkMetadata(metadata: Record<string, unknown>): void {
	let level: unknown[] = [metadata];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > METADATA_DEPTH) throw badMetadata(`must not be nested deeper than ${METADATA_DEPTH} levels`);
		const holders = level.filter((value): value is object => typeof value === 'object' && value !== null);
		level = holders.flatMap((holder) => Object.values(holder));
	}
	if (Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES) {
		throw badMetadata(`must not be larger than ${METADATA_BYTES} bytes`);
	}
}

function badMetadata(message: string): AppError {
	return new AppError('invalid_request', `/metadata ${message}.`, { details: [{ path: '/metadata', message }] });
}
