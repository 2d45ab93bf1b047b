import { ActorSystem, LocalTransport, type Transport } from '../actors/index.ts';
import { AppError, messageOf, newId, ThrottledLog } from '../base/index.ts';
import type { EndUser, Feedback } from '../contract/index.ts';
import {
	formatPosition,
	type Outbox,
	type PositionedUpdate,
	parsePosition,
	type StreamPosition,
} from '../outbox/index.ts';
import {
	type Commit,
	type ConversationRecord,
	type DeploymentRecord,
	decideAndCommit,
	expectVersion,
	type IdempotencyRecord,
	type MessageRecord,
	type PendingReply,
	type ReceiptKey,
} from '../store/index.ts';
import type { ConversationChange } from './change.ts';
import {
	ConversationActor,
	type ConversationDependencies,
	type ConversationMessage,
	type ConversationResult,
	type RunningTurn,
} from './conversation-actor.ts';
import { type ConversationEvent, EventEncoder, questionEvent } from './event-encoder.ts';
import type { Expiry } from './expiry.ts';
import { requireRepeatCapacity, requireStreamCapacity } from './follower-limit.ts';
import type { AgentMessage, HandOver } from './hand-over.ts';
import { requireMetadata } from './metadata.ts';
import type { Audience } from './present.ts';
import { roundsOf } from './reply-rounds.ts';
import { streamConversation } from './stream.ts';
import { titleOf } from './title.ts';

export interface ConversationsOptions extends Omit<ConversationDependencies, 'searchFailures'> {
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
	/** Stored with the message, so that repeats of the request find it: see `repeated`. */
	receipt?: ReceiptKey | undefined;
}

/** A message to a person, who answers when they do. */
export interface MessageForHuman {
	messageForHuman: MessageRecord;
	/** The event before the one that tells of it; 0 where that is not known any more. */
	position: number;
}

/** A turn whose reply has ended well. */
export interface FinishedTurn {
	question: MessageRecord;
	finishedReply: MessageRecord;
	/** The event that told of its end; 0 where that was forgotten. */
	closingSeq: number;
}

/** What only the owner of a conversation may ask of it. */
type OwnerRequest = Extract<ConversationMessage, { workspaceId: string }>;

/** Messages that may wait in one conversation while a reply is written. */
const MAILBOX_LIMIT = 16;
const MAX_RESIDENT = 100_000;
const PASSIVATE_AFTER_MS = 10 * 60_000;
/** How long a message may wait for its turn (ms). */
const MAILBOX_WAIT_MS = 15 * 60_000;
const STOP_TIMEOUT_MS = 10_000;
const JOIN_TIMEOUT_MS = 10_000;
const MAX_JOIN_ATTEMPTS = 20;
const CHANGE_TIMEOUT_MS = 10_000;
const EXPIRE_TIMEOUT_MS = 10_000;
/** After a failure of ours a reply is taken up again, not at once: what failed may need a moment. */
const RESUME_DELAY_MS = 1_000;

/** Conversations, each owned by an actor. */
export class Conversations implements AsyncDisposable {
	readonly #deps: ConversationsOptions;
	readonly #actors: ActorSystem<ConversationMessage, ConversationResult>;
	readonly #transport: Transport<ConversationMessage, ConversationResult, PositionedUpdate>;
	readonly #encoder: EventEncoder;

	constructor(deps: ConversationsOptions) {
		this.#deps = deps;
		this.#encoder = new EventEncoder(deps.store);
		const dependencies = { ...deps, searchFailures: new ThrottledLog(deps.log) };
		this.#actors = new ActorSystem({
			load: async (id, self) => {
				const record = await deps.store.get('conversations', id);
				return new ConversationActor(
					dependencies,
					self,
					record ?? null,
					record ? await this.#unfinishedTurn(record) : null,
				);
			},
			reportFailure: (id, thrown) => this.#recover(id, thrown),
			maxResident: MAX_RESIDENT,
			idleMs: PASSIVATE_AFTER_MS,
			mailboxLimit: MAILBOX_LIMIT,
			mailboxFullError: () => new AppError('conversation_busy', undefined, { retry_after: 5 }),
		});
		this.#transport = new LocalTransport(this.#actors, (id, after, signal) =>
			deps.outbox.subscribe(id, { after: after === undefined ? null : parsePosition(after), signal }),
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
	async send(message: OutgoingMessage): Promise<RunningTurn | MessageForHuman> {
		const { deployment, end_user } = message;
		const existing =
			message.conversation_id === undefined ? null : await this.#existingConversation(message, message.conversation_id);
		const assistant = await this.#deps.store.get('assistants', existing?.assistant_id ?? deployment.assistant_id);
		if (!assistant) throw new AppError('not_found', 'The assistant does not exist.');
		if (!existing && assistant.status === 'archived') throw new AppError('assistant_archived');
		const newRecord = existing ? null : this.#newConversation(message);
		const id = existing?.id ?? (newRecord as ConversationRecord).id;
		const incoming = {
			content: message.content,
			author_name: end_user?.name ?? null,
			receipt: message.receipt ?? null,
		};
		const result = await this.#transport.ask(
			id,
			{ type: 'send', message: incoming, model: assistant.model, start: newRecord },
			{ deadlineMs: MAILBOX_WAIT_MS },
		);
		if ('messageForHuman' in result) return result;
		if (!('sent' in result)) throw new Error('a send was not answered as one');
		return result.sent;
	}

	/** @throws AppError `not_found` also for a conversation of another deployment */
	async get(deployment: DeploymentRecord, conversationId: string): Promise<ConversationRecord> {
		const record = await this.#deps.store.get('conversations', conversationId);
		if (record?.deployment_id !== deployment.id) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	}

	/**
	 * The conversation that a message continues. To the workspace's own clients a 404 says which field does not fit; visitors
	 * and strangers learn nothing of conversations elsewhere.
	 */
	async #existingConversation({ deployment, channel }: OutgoingMessage, id: string): Promise<ConversationRecord> {
		const record = await this.#deps.store.get('conversations', id);
		if (record?.deployment_id === deployment.id) return record;
		const path = '/conversation_id';
		if (channel === 'api' && record?.workspace_id === deployment.workspace_id) {
			throw new AppError(
				'not_found',
				'conversation_id names a conversation of another deployment than deployment_id.',
				{
					details: [{ path, message: 'names a conversation of another deployment than /deployment_id' }],
				},
			);
		}
		throw new AppError('not_found', 'The conversation that conversation_id names does not exist.', {
			details: [{ path, message: 'names no conversation' }],
		});
	}

	/**
	 * The events of a conversation.
	 * @throws AppError `rate_limit_exceeded` where it has as many followers as it may have
	 */
	follow(
		conversationId: string,
		options: { after: StreamPosition | null; signal: AbortSignal; audience: Audience },
	): AsyncGenerator<ConversationEvent, void, undefined> {
		requireStreamCapacity(this.#deps.outbox.subscriberCount(conversationId));
		return streamConversation(this.#transport, this.#encoder, conversationId, { until: null, ...options });
	}

	/** The events of one turn, from its question to the end of its reply. */
	async *followTurn(
		{ question, reply, position, restarted }: RunningTurn,
		{ signal, audience }: { signal: AbortSignal; audience: Audience },
	): AsyncGenerator<ConversationEvent, void, undefined> {
		if (restarted) yield questionEvent(question, position, audience);
		const after = { seq: position, offset: 0 };
		const options = { after, signal, audience, until: reply.id };
		yield* streamConversation(this.#transport, this.#encoder, reply.conversation_id, options);
	}

	/**
	 * Waits until a reply has ended, however it ended.
	 * @throws AppError `unavailable` where the signal aborts first
	 */
	async reply({ reply, position }: RunningTurn, signal: AbortSignal): Promise<MessageRecord> {
		const after = formatPosition({ seq: position, offset: 0 });
		for await (const item of this.#transport.subscribe(reply.conversation_id, after, signal)) {
			if (item.kind !== 'event' || item.event.data.message_id !== reply.id || item.event.data.text !== 'closes')
				continue;
			const ended = await this.#deps.store.get('messages', reply.id);
			if (ended) return ended;
			throw new AppError('not_found', 'The conversation was erased.');
		}
		if (!signal.aborted && !(await this.#deps.store.get('messages', reply.id))) {
			throw new AppError('not_found', 'The conversation was erased.');
		}
		throw new AppError('unavailable', 'The reply is still being written. Read the conversation later.', {
			retry_after: 5,
		});
	}

	/** Ends the reply that is being written, keeping its text so far; false where there is none. */
	async stop(conversationId: string): Promise<boolean> {
		const result = await this.#transport.ask(
			conversationId,
			{ type: 'stop' },
			{ lane: 'control', deadlineMs: STOP_TIMEOUT_MS },
		);
		if (!('turn' in result) || !result.turn) return false;
		// Told once it is on disk: a crash after this answer must not bring the reply back.
		await this.reply(result.turn, AbortSignal.timeout(STOP_TIMEOUT_MS));
		return true;
	}

	/**
	 * What a repeat of a stored message finds: the reply that has ended; or the turn in which it is being written, anew where
	 * it had failed; or, where a person has the conversation by now, the message alone.
	 * @param ids where the message's receipt says that its reply is
	 * @throws AppError `rate_limit_exceeded` where too many follow the conversation
	 */
	async joinRepeat(ids: PendingReply): Promise<RunningTurn | FinishedTurn | MessageForHuman> {
		const { store } = this.#deps;
		for (let attempt = 0; attempt < MAX_JOIN_ATTEMPTS; attempt++) {
			const question = await store.get('messages', ids.question_id);
			if (question && ids.reply_id === null) return { messageForHuman: question, position: 0 };
			const reply = ids.reply_id === null ? undefined : await store.get('messages', ids.reply_id);
			if (!question || !reply) throw new AppError('not_found', 'The conversation was erased.');
			if (reply.status === 'completed' || reply.status === 'stopped') {
				return {
					question,
					finishedReply: reply,
					closingSeq: (await store.closingEventSeq(ids.conversation_id, reply.id)) ?? 0,
				};
			}
			requireRepeatCapacity(this.#deps.outbox.subscriberCount(ids.conversation_id));
			const result = await this.#transport.ask(
				ids.conversation_id,
				reply.status === 'failed'
					? { type: 'rewrite', questionId: question.id, replyId: reply.id }
					: { type: 'join', replyId: reply.id },
				reply.status === 'failed' ? { deadlineMs: MAILBOX_WAIT_MS } : { lane: 'control', deadlineMs: JOIN_TIMEOUT_MS },
			);
			if ('turn' in result && result.turn) return result.turn;
			if ('messageForHuman' in result) return result;
			// It has ended, or was begun, since it was read: look again.
		}
		throw new AppError('unavailable', 'The reply cannot be joined right now.', { retry_after: 1 });
	}

	/**
	 * Changes a conversation's fields, archives or reopens it.
	 * @throws AppError `not_found` also for another workspace's, `precondition_failed`, `invalid_request`
	 */
	async change(id: string, change: ConversationChange): Promise<ConversationRecord> {
		const result = await this.#askAsOwner(id, { type: 'change', ...change });
		if (!('changed' in result)) throw new Error('a change was not answered as one');
		return result.changed;
	}

	/**
	 * Gives a conversation to a person, or back to the model. A reply that is being written ends with what there is of it.
	 * @throws AppError `not_found` also for another workspace's, `precondition_failed`
	 */
	async handOver(id: string, change: HandOver): Promise<ConversationRecord> {
		const result = await this.#askAsOwner(id, { type: 'hand_over', ...change });
		if (!('changed' in result)) throw new Error('a hand-over was not answered as one');
		return result.changed;
	}

	/**
	 * Says something as a person of the workspace.
	 * @throws AppError `not_found`, `conversation_archived`, `conversation_not_taken_over`
	 */
	async sendAgentMessage(id: string, message: AgentMessage): Promise<MessageRecord> {
		const result = await this.#askAsOwner(id, { type: 'say', ...message });
		if (!('agentMessage' in result)) throw new Error('what was said was not answered as that');
		return result.agentMessage;
	}

	/** Erases a conversation for good; whoever follows it is told no more. */
	async erase(id: string, erasure: Omit<ConversationChange, 'patch'>): Promise<void> {
		await this.#askAsOwner(id, { type: 'erase', ...erasure });
	}

	/**
	 * Erases a conversation whose time is over, and of which nothing waits or is being written.
	 * @returns false where it is in use after all, or was erased before
	 * @throws AppError `unavailable`, `conversation_busy`
	 */
	async expire(id: string, expiry: Expiry): Promise<boolean> {
		// In turn with what visitors send: a message that came before keeps the conversation.
		const result = await this.#transport.ask(id, { type: 'expire', ...expiry }, { deadlineMs: EXPIRE_TIMEOUT_MS });
		return 'expired' in result && result.expired;
	}

	/**
	 * Keeps what somebody thought of a reply.
	 * @param mayRate judges whether they may see the message's conversation
	 * @throws AppError `not_found`; `invalid_request` for a message that is no finished reply
	 */
	async rate(
		messageId: string,
		{ rating, comment }: Feedback,
		mayRate: (conversation: ConversationRecord) => boolean,
		receipt?: (message: MessageRecord) => IdempotencyRecord | undefined,
	): Promise<MessageRecord> {
		const { store } = this.#deps;
		return decideAndCommit(store, async () => {
			const message = await store.get('messages', messageId);
			const conversation = message && (await store.get('conversations', message.conversation_id));
			if (!conversation || !mayRate(conversation)) throw new AppError('not_found', 'The message does not exist.');
			if (message.role !== 'assistant' || message.status === 'in_progress') {
				throw new AppError('invalid_request', 'Only a finished message of the assistant can be rated.');
			}
			const feedbackComment = comment === undefined ? message.feedback_comment : comment;
			const set = { feedback: rating, feedback_comment: rating === null ? null : feedbackComment };
			const rated = { ...message, ...set, version: message.version + 1 };
			const commit: Commit = {
				expect: [expectVersion('messages', message)],
				write: [{ op: 'patch', kind: 'messages', id: message.id, set }],
				idempotency: receipt?.(rated),
			};
			return { commit, result: rated };
		});
	}

	/** Takes no new messages and lets running replies end. What is cut off by the deadline is taken up at the next start. */
	async drain(deadlineMs: number): Promise<void> {
		await this.#actors.drain(deadlineMs);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#actors.drain(0);
	}

	/** Asks a conversation beside what it is writing. */
	async #askAsOwner(id: string, message: OwnerRequest): Promise<ConversationResult> {
		// Before the actor: whether it is busy is nothing that another workspace learns.
		const record = await this.#deps.store.get('conversations', id);
		if (record?.workspace_id !== message.workspaceId) {
			throw new AppError('not_found', 'The conversation does not exist.');
		}
		return this.#transport.ask(id, message, { lane: 'control', deadlineMs: CHANGE_TIMEOUT_MS });
	}

	#newConversation({ deployment, content, metadata = {}, channel, end_user }: OutgoingMessage): ConversationRecord {
		requireMetadata(metadata);
		const now = this.#deps.clock.now();
		return {
			id: newId('conversation'),
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
			message_count: 0,
			last_message_at: null,
			created_at: now,
			updated_at: now,
			archived_at: null,
		};
	}

	async #unfinishedTurn(conversation: ConversationRecord) {
		const { store } = this.#deps;
		const reply = await store.unfinishedReply(conversation.id);
		if (!reply) return null;
		const where = { conversation_id: conversation.id, seq: reply.seq - 1 };
		const [question] = await store.list('messages', { where, order: 'asc', limit: 1 });
		return question ? { conversation, question, reply, rounds: await roundsOf(store, reply.id) } : null;
	}

	#recover(id: string, thrown: unknown): void {
		this.#deps.log.error({ conversation: id, error: messageOf(thrown) }, 'conversation actor failed');
		setTimeout(() => {
			try {
				this.#actors.tell(id, { type: 'resume' }, { lane: 'control' });
			} catch {
				// Shutting down: the next start takes it up.
			}
		}, RESUME_DELAY_MS).unref();
	}
}
