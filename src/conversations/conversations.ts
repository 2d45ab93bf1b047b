import { ActorSystem, LocalTransport, type Transport } from '../actors/index.ts';
import {
	AppError,
	inSpan,
	isId,
	messageOf,
	NO_SPAN,
	OtherNodeError,
	type PullSource,
	type Span,
	ThrottledLog,
} from '../base/index.ts';
import type { Feedback } from '../contract/index.ts';
import { Budgets } from '../costs/index.ts';
import {
	formatPosition,
	type Outbox,
	type PositionedUpdate,
	parsePosition,
	type StreamPosition,
} from '../outbox/index.ts';
import type {
	ConversationRecord,
	DeploymentRecord,
	FenceOf,
	MessageRecord,
	NoteRecord,
	PendingReply,
	RequestReceipt,
	UncommittedChange,
} from '../store/index.ts';
import type { ConversationChange } from './change.ts';
import { emailLeftIn } from './contact-email.ts';
import { ConversationActor, type ConversationDependencies } from './conversation-actor.ts';
import type { ConversationMessage, ConversationResult } from './conversation-messages.ts';
import { type ConversationEvent, EventEncoder, questionEvent } from './event-encoder.ts';
import type { Expiry } from './expiry.ts';
import { rateMessage } from './feedback.ts';
import { requireStreamCapacity } from './follower-limit.ts';
import type { AgentMessage, HandOver } from './hand-over.ts';
import { conversationNotFound } from './not-found.ts';
import type { NewNote, NoteRemoval } from './notes.ts';
import { People } from './people.ts';
import { asksForPerson, type PersonRequestChange } from './person-request.ts';
import { PresenceStream } from './presence-stream.ts';
import type { Audience } from './present.ts';
import { joinRepeat } from './repeats.ts';
import { isCharged } from './reply-cost.ts';
import { RunningErasures } from './running-erasures.ts';
import { ConversationStream, type ConversationStreamOptions } from './stream.ts';
import { type SuggestedReply, type SuggestionRequest, Suggestions } from './suggest-reply.ts';
import { type OutgoingMessage, targetConversation } from './target-conversation.ts';
import type { FinishedTurn, MessageForHuman, RunningTurn } from './turn-result.ts';
import { unfinishedTurn } from './unfinished-turn.ts';
import { waitForReply } from './wait-for-reply.ts';

export interface ConversationsOptions
	extends Omit<ConversationDependencies, 'budgets' | 'searchFailures' | 'isPersonAvailable'> {
	outbox: Outbox;
	/** The code of ISO 4217 in which budgets are; USD by default. */
	currency?: string;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf;
}

/** The messages that a workspace's own clients send to a conversation. */
type OwnerMessage = Extract<ConversationMessage, { workspaceId: string }>;

/** Messages that may wait in one conversation while a reply is written. */
const MAILBOX_LIMIT = 16;
const MAX_RESIDENT = 100_000;
const PASSIVATE_AFTER_MS = 30_000;
/** How long a message may wait in the mailbox (ms). */
const MAILBOX_WAIT_MS = 15 * 60_000;
const STOP_TIMEOUT_MS = 10_000;
const CHANGE_TIMEOUT_MS = 10_000;
const EXPIRE_TIMEOUT_MS = 10_000;
/** An actor that failed resumes its reply after this delay: the cause of the failure may pass meanwhile. */
const RESUME_DELAY_MS = 1_000;

/** Conversations. Each has an actor, which makes its changes one at a time. */
export class Conversations implements AsyncDisposable {
	readonly #deps: ConversationsOptions;
	readonly #actors: ActorSystem<ConversationMessage, ConversationResult>;
	readonly #transport: Transport<ConversationMessage, ConversationResult, PositionedUpdate>;
	readonly #encoder: EventEncoder;
	readonly #suggestions: Suggestions;
	readonly people: People;
	readonly runningErasures: RunningErasures;

	constructor(deps: ConversationsOptions) {
		this.#deps = deps;
		this.#encoder = new EventEncoder(deps.store);
		this.people = new People(deps.store);
		this.runningErasures = new RunningErasures(deps.store, deps.fenceOf);
		const isPersonAvailable = (workspaceId: string) => this.people.availability.isAvailable(workspaceId);
		const { store, clock, log, currency = 'USD' } = deps;
		const budgets = new Budgets({ store, clock, log, currency });
		const dependencies = { ...deps, budgets, searchFailures: new ThrottledLog(deps.log), isPersonAvailable };
		this.#suggestions = new Suggestions(dependencies);
		this.#actors = new ActorSystem({
			load: async (id, self) => {
				const fence = deps.fenceOf?.(id);
				if (fence === null) throw new OtherNodeError(id);
				const record = (await deps.store.get('conversations', id)) ?? null;
				const unfinished = record && (await unfinishedTurn(deps, record));
				return new ConversationActor(dependencies, self, record, unfinished, fence);
			},
			reportFailure: (id, thrown) => this.#recover(id, thrown),
			maxResident: MAX_RESIDENT,
			idleMs: PASSIVATE_AFTER_MS,
			mailboxLimit: MAILBOX_LIMIT,
			mailboxFullError: () => new AppError('conversation_busy', undefined, { retry_after: 5 }),
		});
		this.#transport = new LocalTransport(this.#actors, (id, after) =>
			deps.outbox.subscribe(id, after === undefined ? null : parsePosition(after)),
		);
	}

	/** The actors in memory, and the messages that wait for them. */
	get actorCounts(): { residents: number; waiting: number } {
		return { residents: this.#actors.residents, waiting: this.#actors.waiting };
	}

	/**
	 * Discards the actors of these conversations at once and closes their streams: another node serves them. A message that waits may be
	 * passed on (`OtherNodeError`).
	 */
	abandonWhere(isLost: (id: string) => boolean): void {
		this.#actors.abandonWhere(isLost, (id) => ({ running: movedError(), waiting: new OtherNodeError(id) }));
		this.#deps.outbox.closeWhere((stream) => isId('conversation', stream) && isLost(stream));
	}

	/** The conversations in which something is done, or messages wait. */
	busyIds(): Iterable<string> {
		return this.#actors.busyIds();
	}

	/** Resumes the replies that an earlier process did not finish. Messages are sent only afterwards. */
	async start(): Promise<void> {
		await this.runningErasures.refresh();
		// Suggestions of an earlier process: nothing writes them any more.
		if (await this.#deps.store.spending.hasReservations()) {
			await this.#deps.store.commit({ write: [{ op: 'spending.settle_abandoned' }] });
		}
		await this.resumeUnfinished();
	}

	/** Resumes the replies that no process finishes: at the start, and when this node has got further conversations. */
	async resumeUnfinished(): Promise<void> {
		for (const { conversation_id } of await this.#deps.store.conversations.unfinishedReplies()) {
			if (this.#deps.fenceOf?.(conversation_id) === null) continue;
			this.#actors.tell(conversation_id, { type: 'resume' }, { lane: 'control' });
		}
	}

	/**
	 * Stores a message once the messages before it have their replies, and starts the reply to it.
	 * @param receipt stored with the message, so that a repeat of the request finds it: see `joinRepeat`
	 * @param parent the operation in a trace that the message and its reply belong to
	 * @throws AppError `not_found`, `assistant_archived`, `conversation_archived`, `conversation_busy`, `usage_limit_reached`, `unavailable`
	 * while the end user is erased
	 */
	async send(
		message: OutgoingMessage,
		receipt: RequestReceipt | null = null,
		parent: Span = NO_SPAN,
	): Promise<RunningTurn | MessageForHuman> {
		const { content, deployment, end_user } = message;
		const refusal = this.runningErasures.requireNone(deployment.workspace_id, end_user);
		// Nothing to wait for in the embedded store.
		if (refusal !== undefined) await refusal;
		const { id, newRecord, model } = await targetConversation(this.#deps, message);
		const asks_for_person = deployment.features.handoff === true && asksForPerson(content);
		const visitor_id = isCharged(this.#deps.models.priceOf(model)) ? (message.visitorId?.() ?? null) : null;
		const incoming = { content, author_name: end_user?.name ?? null, asks_for_person, visitor_id };
		const result = await inSpan(parent.child('conversation.send'), (own) => {
			own.set({ 'parley.conversation_id': id });
			const span = { parent, own, waiting: own.child('mailbox') };
			return this.#transport.ask(
				id,
				{ type: 'send', message: incoming, model, start: newRecord, receipt, span },
				{ deadlineMs: MAILBOX_WAIT_MS },
			);
		});
		if ('messageForHuman' in result) return result;
		if (!('sent' in result)) throw unexpectedResult('send');
		if (asks_for_person || emailLeftIn(content) !== null) this.people.presence.notify(id);
		return result.sent;
	}

	/** @throws AppError `not_found` also for a conversation of another deployment */
	async get(deployment: DeploymentRecord, conversationId: string): Promise<ConversationRecord> {
		const record = await this.#deps.store.get('conversations', conversationId);
		if (record?.deployment_id !== deployment.id) throw conversationNotFound();
		return record;
	}

	/**
	 * The events of a conversation.
	 * @param after the position of the follower; null: from now on
	 * @throws AppError `rate_limit_exceeded` where it has the highest number of followers already
	 */
	follow(
		conversation: Pick<ConversationRecord, 'id' | 'workspace_id'>,
		{ after, audience }: { after: StreamPosition | null; audience: Audience },
	): PullSource<ConversationEvent> {
		requireStreamCapacity(this.#deps.outbox.subscriberCount(conversation.id));
		const events = this.#stream(conversation.id, after, { audience, until: null, first: null });
		return new PresenceStream(events, this.people, conversation, audience);
	}

	/** The events of one turn, from its question to the end of its reply. */
	followTurn(
		{ question, reply, position, restarted }: RunningTurn,
		{ audience }: { audience: Audience },
	): PullSource<ConversationEvent> {
		const first = restarted ? questionEvent(question, position, audience) : null;
		return this.#stream(reply.conversation_id, { seq: position, offset: 0 }, { audience, until: reply.id, first });
	}

	/**
	 * Waits until a reply has ended, well or not.
	 * @throws AppError `unavailable` where the signal aborts first
	 */
	reply(turn: RunningTurn, signal: AbortSignal): Promise<MessageRecord> {
		return waitForReply(this.#transport, this.#deps.store, turn, signal, this.#deps.fenceOf !== undefined);
	}

	/**
	 * The reply that the assistant would write to the last message of the visitor. Nothing is stored.
	 * @throws AppError `not_found`, `invalid_request`, `rate_limit_exceeded`, `model_error`
	 */
	suggestReply(id: string, request: SuggestionRequest): Promise<SuggestedReply> {
		return this.#suggestions.suggest(id, request);
	}

	/** Ends the reply that is being written with its text so far; false where there is none. */
	async stop(conversationId: string): Promise<boolean> {
		const result = await this.#transport.ask(
			conversationId,
			{ type: 'stop' },
			{ lane: 'control', deadlineMs: STOP_TIMEOUT_MS },
		);
		if (!('turn' in result) || !result.turn) return false;
		// Returns once the end is on disk: a crash after the response must not resume the reply.
		await this.reply(result.turn, AbortSignal.timeout(STOP_TIMEOUT_MS));
		return true;
	}

	/**
	 * What a repeat of a stored message returns: the reply, or the turn in which it is being written.
	 * @param ids from the message's receipt
	 * @throws AppError `not_found`; `rate_limit_exceeded` where too many clients follow the conversation; `unavailable`
	 */
	joinRepeat(ids: PendingReply): Promise<RunningTurn | FinishedTurn | MessageForHuman> {
		const { store, outbox } = this.#deps;
		return joinRepeat({ store, outbox, transport: this.#transport, rewriteTimeoutMs: MAILBOX_WAIT_MS }, ids);
	}

	/**
	 * Stores the rating of a reply.
	 * @param mayRate whether the caller may see the message's conversation
	 * @throws AppError `not_found`; `invalid_request` for a message that is no finished reply
	 */
	rate(
		messageId: string,
		feedback: Feedback,
		mayRate: (conversation: ConversationRecord) => boolean,
	): UncommittedChange<MessageRecord> {
		return rateMessage(this.#deps.store, messageId, feedback, this.#deps.clock.now(), mayRate);
	}

	/**
	 * Gives a conversation to a human, or back to the model. A reply that is being written ends with its text so far.
	 * @throws AppError `not_found` also for another workspace's, `precondition_failed`
	 */
	async handOver(id: string, change: HandOver, receipt: RequestReceipt | null = null): Promise<ConversationRecord> {
		const result = await this.#askAsOwner(id, { type: 'handOver', ...change, receipt });
		if (!('changed' in result)) throw unexpectedResult('handOver');
		this.people.presence.notify(id);
		return result.changed;
	}

	/**
	 * Sends the message of a human of the workspace.
	 * @throws AppError `not_found`, `conversation_archived`, `conversation_not_taken_over`
	 */
	async sendAgentMessage(
		id: string,
		message: AgentMessage,
		receipt: RequestReceipt | null = null,
	): Promise<MessageRecord> {
		const result = await this.#askAsOwner(id, { type: 'sendAgentMessage', ...message, receipt });
		if (!('agentMessage' in result)) throw unexpectedResult('sendAgentMessage');
		return result.agentMessage;
	}

	/**
	 * Adds an internal note, which visitors never see.
	 * @throws AppError `not_found`
	 */
	async addNote(id: string, note: NewNote, receipt: RequestReceipt | null = null): Promise<NoteRecord> {
		const result = await this.#askAsOwner(id, { type: 'addNote', ...note, receipt });
		if (!('note' in result)) throw unexpectedResult('addNote');
		return result.note;
	}

	/** @throws AppError `not_found` */
	async removeNote(id: string, removal: NoteRemoval): Promise<void> {
		await this.#askAsOwner(id, { type: 'removeNote', ...removal });
	}

	/**
	 * Stores a visitor's request for a person, or withdraws it. It does not wait for the reply that is being written.
	 * @throws AppError `not_found`, `conversation_archived`
	 */
	async requestPerson(id: string, change: PersonRequestChange): Promise<ConversationRecord> {
		const message: ConversationMessage = { type: 'requestPerson', ...change };
		const result = await this.#transport.ask(id, message, { lane: 'control', deadlineMs: CHANGE_TIMEOUT_MS });
		if (!('changed' in result)) throw unexpectedResult('requestPerson');
		this.people.presence.notify(id);
		return result.changed;
	}

	/**
	 * Changes a conversation's fields, archives or reopens it.
	 * @throws AppError `not_found` also for another workspace's, `precondition_failed`, `invalid_request`
	 */
	async change(id: string, change: ConversationChange): Promise<ConversationRecord> {
		const result = await this.#askAsOwner(id, { type: 'change', ...change });
		if (!('changed' in result)) throw unexpectedResult('change');
		return result.changed;
	}

	/**
	 * Erases a conversation whose retention is over, if no message waits and no reply is being written.
	 * @returns false where it is in use, or was erased before
	 * @throws AppError `unavailable`, `conversation_busy`
	 */
	async expire(id: string, expiry: Expiry): Promise<boolean> {
		// In the user lane: a message that came before keeps the conversation.
		const result = await this.#transport.ask(id, { type: 'expire', ...expiry }, { deadlineMs: EXPIRE_TIMEOUT_MS });
		return 'expired' in result && result.expired;
	}

	/** Erases a conversation for good and closes its streams. */
	async erase(id: string, erasure: Omit<ConversationChange, 'patch'>): Promise<void> {
		await this.#askAsOwner(id, { type: 'erase', ...erasure });
	}

	/** Takes no new messages and lets running replies end. A reply that is cut off by the deadline is resumed at the next start. */
	async drain(deadlineMs: number): Promise<void> {
		await this.#actors.drain(deadlineMs);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.people[Symbol.dispose]();
		this.runningErasures[Symbol.dispose]();
		await this.#actors.drain(0);
	}

	/** Sends a message of the conversation's workspace. It does not wait for the reply that is being written. */
	async #askAsOwner(id: string, message: OwnerMessage): Promise<ConversationResult> {
		// Checked before the actor: a busy mailbox would tell another workspace that the conversation exists.
		const record = await this.#deps.store.get('conversations', id);
		if (record?.workspace_id !== message.workspaceId) throw conversationNotFound();
		return this.#transport.ask(id, message, { lane: 'control', deadlineMs: CHANGE_TIMEOUT_MS });
	}

	#stream(id: string, after: StreamPosition | null, options: ConversationStreamOptions): PullSource<ConversationEvent> {
		const updates = this.#transport.subscribe(id, after === null ? undefined : formatPosition(after));
		return new ConversationStream(updates, this.#encoder, options);
	}

	#recover(id: string, thrown: unknown): void {
		// Its node resumes the reply.
		if (thrown instanceof OtherNodeError) return;
		this.#deps.log.error({ conversation: id, error: messageOf(thrown) }, 'conversation actor failed');
		setTimeout(() => {
			try {
				this.#actors.tell(id, { type: 'resume' }, { lane: 'control' });
			} catch {
				// Shutting down: the next start resumes the reply.
			}
		}, RESUME_DELAY_MS).unref();
	}
}

/** The node has lost the conversation while it handled a message, which may be stored. */
function movedError(): AppError {
	return new AppError('unavailable', 'Another node serves this conversation now. The change may have been made.', {
		retry_after: 1,
	});
}

function unexpectedResult(type: ConversationMessage['type']): Error {
	return new Error(`The conversation actor returned another result than that of ${type}.`);
}
