import { type Actor, MailboxFullError, type SelfRef } from '../actors/index.ts';
import { AppError, type Clock, type Deferred, deferred, messageOf } from '../base/index.ts';
import type { ToolCall } from '../contract/index.ts';
import type { Outbox } from '../outbox/index.ts';
import {
	type Commit,
	type CommitOutcome,
	type ConversationRecord,
	IdempotentReplayError,
	type MessageRecord,
	type Store,
} from '../store/index.ts';
import { type ConversationChange, changeConversation, eraseConversation } from './change.ts';
import { eraseRemainingRows } from './erasure.ts';
import { type Expiry, expireConversation } from './expiry.ts';
import { type AgentMessage, agentMessage, type HandOver, handOver } from './hand-over.ts';
import { outcomeOf, type ReplyDependencies, STOPPED, writeReply } from './reply.ts';
import { progressFrom, type ReplyListener, type ReplyProgress } from './reply-progress.ts';
import { type ReplyRound, roundsOf } from './reply-rounds.ts';
import { ReportQueue } from './report-queue.ts';
import { restartTurn, rewriteTurn } from './restart.ts';
import { beginRound, endCall } from './round-commits.ts';
import { beginTurn, endTurn, type IncomingMessage, type ReplyOutcome, storeForHuman, type Turn } from './turn.ts';

export type ConversationMessage =
	/** `start`: the conversation to begin, where it does not exist yet. */
	| { type: 'send'; message: IncomingMessage; model: string; start: ConversationRecord | null }
	| { type: 'stop' }
	| { type: 'resume' }
	/** Asks for the turn whose reply this is, where it is being written. */
	| { type: 'join'; replyId: string }
	/** Has a reply that failed written anew. */
	| { type: 'rewrite'; questionId: string; replyId: string }
	| ({ type: 'change' } & ConversationChange)
	| ({ type: 'erase' } & Omit<ConversationChange, 'patch'>)
	| ({ type: 'expire' } & Expiry)
	| ({ type: 'hand_over' } & HandOver)
	| ({ type: 'say' } & AgentMessage)
	/** Reports of a reply that is being written. */
	| { type: 'text'; replyId: string; text: string }
	| { type: 'round'; replyId: string; round: ReplyRound }
	| { type: 'tool_call'; replyId: string; call: ToolCall }
	| { type: 'ended'; replyId: string; outcome: ReplyOutcome };

/** What a message to the actor is answered with. */
export type ConversationResult =
	| { sent: RunningTurn }
	/** The turn whose reply was (to `stop`) or is (to `join`, `rewrite`) being written, null where none is. */
	| { turn: RunningTurn | null }
	| { changed: ConversationRecord }
	| { agentMessage: MessageRecord }
	/** Whether it was erased; not where somebody has said something, or its workspace was changed. */
	| { expired: boolean }
	/** A message to a person, who answers when they do; the stream from `position` tells of it. */
	| { messageForHuman: MessageRecord; position: number }
	| { done: true };

/** A stored message, the reply that is being written to it, and the event after which the stream tells of both. */
export interface RunningTurn {
	question: MessageRecord;
	reply: MessageRecord;
	position: number;
	/** The reply was begun anew: the stream from `position` tells of it as a reset, and not of the question. */
	restarted: boolean;
}

export interface ConversationDependencies extends ReplyDependencies {
	store: Store;
	outbox: Pick<Outbox, 'appendText' | 'close'>;
	clock: Clock;
	/** Milliseconds that a reply may take. */
	replyTimeoutMs: number;
}

const DONE: ConversationResult = { done: true };

/** How often a reply is begun before it is given up as interrupted. */
const MAX_REPLY_ATTEMPTS = 2;

/**
 * One conversation: stores what is said, in order, and sees to it that every message gets its reply. The reply is written
 * beside the mailbox and reports back, so that `stop` never waits behind it; while it is written, further messages wait.
 */
export class ConversationActor implements Actor<ConversationMessage, ConversationResult> {
	readonly #deps: ConversationDependencies;
	readonly #self: SelfRef<ConversationMessage, ConversationResult>;
	/** Null until the first message has been stored. */
	#record: ConversationRecord | null;
	/** The turn whose reply is being written. */
	#turn: Turn | null = null;
	#abort: AbortController | null = null;
	/** What there is of the reply that is being written. */
	#progress: ReplyProgress = progressFrom([]);
	/** Resolves once the round whose calls are to be carried out is on disk. */
	#roundCommitted: Deferred<void> | null = null;
	/** The event after which the stream tells of this turn. */
	#position = 0;
	#restarted = false;

	/** @param unfinished the turn whose reply a process before this one (or an actor before this one) did not finish */
	constructor(
		deps: ConversationDependencies,
		self: SelfRef<ConversationMessage, ConversationResult>,
		record: ConversationRecord | null,
		unfinished: Turn | null,
	) {
		this.#deps = deps;
		this.#self = self;
		this.#record = record;
		this.#turn = unfinished;
		if (unfinished) self.tell({ type: 'resume' });
	}

	acceptsUserMessages(): boolean {
		return this.#turn === null;
	}

	canPassivate(): boolean {
		return this.#turn === null;
	}

	isFinished(): boolean {
		return this.#record === null;
	}

	discard(): void {
		this.#abort?.abort(new Error('The conversation was loaded anew.'));
	}

	handle(message: ConversationMessage): ConversationResult | Promise<ConversationResult> {
		switch (message.type) {
			case 'text':
				if (this.#isWriting(message.replyId))
					this.#deps.outbox.appendText((this.#turn as Turn).conversation.id, message.text);
				return DONE;
			case 'round':
				return this.#isWriting(message.replyId) ? this.#beginRound(message.round) : DONE;
			case 'tool_call':
				return this.#isWriting(message.replyId) ? this.#endCall(message.call) : DONE;
			case 'send':
				return this.#send(message.message, message.model, message.start);
			case 'ended':
				return this.#isWriting(message.replyId) ? this.#endReply(message.outcome) : DONE;
			case 'stop':
				return this.#stop();
			case 'resume':
				return this.#resume();
			case 'join':
				return this.#join(message.replyId);
			case 'rewrite':
				return this.#rewrite(message.questionId, message.replyId);
			case 'change':
				return this.#change(message);
			case 'erase':
				return this.#erase(message);
			case 'expire':
				return this.#expire(message);
			case 'hand_over':
				return this.#handOver(message);
			case 'say':
				return this.#say(message);
		}
	}

	async #send(message: IncomingMessage, model: string, start: ConversationRecord | null): Promise<ConversationResult> {
		const conversation = this.#record ?? start;
		if (!conversation) throw new AppError('not_found', 'The conversation does not exist.');
		if (conversation.status === 'archived') throw new AppError('conversation_archived');
		if (conversation.handled_by === 'human') return this.#storeForHuman(conversation, message);
		const { commit, turn } = beginTurn(conversation, this.#record === null, message, model, this.#deps.clock.now());
		const committing = this.#deps.store.commit(commit).then(requireCommitted);
		this.#startReply(turn, committing);
		const { seqs } = await committing.catch((error: unknown) => {
			this.#abandonReply();
			throw error;
		});
		this.#record = turn.conversation;
		// The stream events of this turn are the last two: whoever follows from just before sees the turn from its start.
		this.#position = (seqs.at(-2) as number) - 1;
		this.#restarted = false;
		return { sent: this.#runningTurn(turn) };
	}

	/** Keeps a message for the person who has the conversation. */
	async #storeForHuman(conversation: ConversationRecord, message: IncomingMessage): Promise<ConversationResult> {
		const {
			commit,
			conversation: next,
			messageForHuman,
		} = storeForHuman(conversation, message, this.#deps.clock.now());
		const { seqs } = requireCommitted(await this.#deps.store.commit(commit));
		this.#record = next;
		return { messageForHuman, position: (seqs.at(-1) as number) - 1 };
	}

	async #beginRound(round: ReplyRound): Promise<ConversationResult> {
		const { commit, turn } = beginRound(this.#turn as Turn, round, this.#deps.clock.now());
		await this.#commitOrDiscard(commit);
		this.#turn = turn;
		this.#roundCommitted?.resolve();
		return DONE;
	}

	async #endCall(call: ToolCall): Promise<ConversationResult> {
		const { commit, turn } = endCall(this.#turn as Turn, call, this.#deps.clock.now());
		await this.#commitOrDiscard(commit);
		this.#turn = turn;
		return DONE;
	}

	async #handOver(change: HandOver): Promise<ConversationResult> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const running = this.#turn && { turn: this.#turn, outcome: outcomeOf(this.#progress, 'stopped') };
		const result = handOver(this.#record, running, change, this.#deps.clock.now());
		if (!result) return { changed: this.#record };
		requireCommitted(await this.#deps.store.commit(result.commit));
		this.#record = result.conversation;
		if (change.to === 'human') {
			this.#abandonReply();
		}
		return { changed: this.#record };
	}

	async #say(request: AgentMessage): Promise<ConversationResult> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const { commit, conversation, message } = agentMessage(this.#record, request, this.#deps.clock.now());
		requireCommitted(await this.#deps.store.commit(commit));
		this.#record = conversation;
		return { agentMessage: message };
	}

	#stop(): ConversationResult {
		const turn = this.#turn;
		const abort = this.#abort;
		abort?.abort(STOPPED);
		return { turn: turn && abort ? this.#runningTurn(turn) : null };
	}

	async #endReply(outcome: ReplyOutcome): Promise<ConversationResult> {
		if (!this.#turn) throw new Error('a reply ended that was not being written');
		const { commit, conversation } = endTurn(this.#turn, outcome, this.#deps.clock.now());
		await this.#commitOrDiscard(commit);
		this.#record = conversation;
		this.#turn = null;
		this.#abort = null;
		return DONE;
	}

	async #join(replyId: string): Promise<ConversationResult> {
		if (!this.#isWriting(replyId)) return { turn: null };
		// A turn that a process before this one left is taken up first: its stream begins there.
		await this.#resume();
		return { turn: this.#turn && this.#runningTurn(this.#turn) };
	}

	async #rewrite(questionId: string, replyId: string): Promise<ConversationResult> {
		const { store, clock } = this.#deps;
		const [question, reply] = [await store.get('messages', questionId), await store.get('messages', replyId)];
		if (!this.#record || !question || !reply) throw new AppError('not_found', 'The conversation does not exist.');
		// Another repeat was faster.
		if (reply.status !== 'failed') return { turn: null };
		if (this.#record.status === 'archived') throw new AppError('conversation_archived');
		// Somebody has the conversation who has read the question, and answers when they do.
		if (this.#record.handled_by === 'human') return { messageForHuman: question, position: 0 };
		const assistant = await store.get('assistants', this.#record.assistant_id);
		const model = assistant?.model ?? (reply.model as string);
		const rounds = await roundsOf(store, replyId);
		const { commit, turn } = rewriteTurn(this.#record, question, reply, rounds, model, clock.now());
		const { seqs } = requireCommitted(await store.commit(commit));
		this.#position = (seqs[0] as number) - 1;
		this.#restarted = true;
		this.#startReply(turn);
		return { turn: this.#runningTurn(turn) };
	}

	async #change(change: ConversationChange): Promise<ConversationResult> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const changed = changeConversation(this.#record, change, this.#deps.clock.now());
		if (changed) {
			requireCommitted(await this.#deps.store.commit(changed.commit));
			this.#record = changed.conversation;
			// The reply that is being written ends on the conversation as it is now.
			if (this.#turn) this.#turn = { ...this.#turn, conversation: changed.conversation };
		}
		return { changed: this.#record };
	}

	async #erase(erasure: Omit<ConversationChange, 'patch'>): Promise<ConversationResult> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const { id } = this.#record;
		requireCommitted(await this.#deps.store.commit(eraseConversation(this.#record, erasure)));
		this.#clear(id);
		await eraseRemainingRows(this.#deps.store, id);
		return DONE;
	}

	async #expire(expiry: Expiry): Promise<ConversationResult> {
		const commit = this.#record && !this.#turn ? expireConversation(this.#record, expiry) : null;
		if (!this.#record || !commit) return { expired: false };
		const result = await this.#deps.store.commit(commit);
		if (result.outcome === 'conflict' && result.kind === 'workspaces') return { expired: false };
		requireCommitted(result);
		const { id } = this.#record;
		this.#clear(id);
		await eraseRemainingRows(this.#deps.store, id);
		return { expired: true };
	}

	/** Nothing is left of the conversation: nobody writes in it or follows it any more. */
	#clear(id: string): void {
		this.#abort?.abort(new Error('The conversation was erased.'));
		this.#record = null;
		this.#turn = null;
		this.#abort = null;
		this.#deps.outbox.close(id);
	}

	/** Writes a reply again that was cut off, or gives it up when that happened before. */
	async #resume(): Promise<ConversationResult> {
		if (!this.#turn || this.#abort) return DONE;
		const { reply, rounds } = this.#turn;
		if (reply.attempts >= MAX_REPLY_ATTEMPTS) {
			const error = { code: 'interrupted', message: 'The reply was interrupted twice and has been given up.' };
			return this.#endReply(outcomeOf(progressFrom(rounds), 'failed', error));
		}
		const { commit, turn } = restartTurn(this.#turn, this.#deps.clock.now());
		const [seq = 1] = await this.#commitOrDiscard(commit);
		this.#position = seq - 1;
		this.#restarted = true;
		this.#startReply(turn);
		return DONE;
	}

	/**
	 * Lets the reply be written beside the mailbox; its text comes back as messages, joined per turn of the event loop.
	 * @param committed the commit of the turn, where that is still under way: what the reply needs is gathered meanwhile
	 */
	#startReply(turn: Turn, committed?: Promise<unknown>): void {
		const abort = new AbortController();
		const replyId = turn.reply.id;
		this.#turn = turn;
		this.#abort = abort;
		const timeout = new AppError('model_error', 'The model took too long to answer.');
		const deadline = setTimeout(() => abort.abort(timeout), this.#deps.replyTimeoutMs);
		const reportQueue = new ReportQueue<ConversationMessage>(
			(message) => this.#tellSelf(message),
			() => this.#self.waitForCapacity(),
		);
		const progress = progressFrom(turn.rounds);
		this.#progress = progress;
		const listener: ReplyListener = {
			text: (text) => reportQueue.addText(text, (all) => ({ type: 'text', replyId, text: all })),
			round: (round) => {
				const committed = deferred<void>();
				this.#roundCommitted = committed;
				reportQueue.add({ type: 'round', replyId, round: { ...round, calls: [...round.calls] } });
				return committed.promise;
			},
			toolCall: (call) => reportQueue.add({ type: 'tool_call', replyId, call }),
		};
		if (progress.text !== '') listener.text(progress.text);
		void writeReply(this.#deps, turn, progress, listener, abort.signal, committed).then((outcome) => {
			clearTimeout(deadline);
			reportQueue.add({ type: 'ended', replyId, outcome });
		});
	}

	/** Ends the writing of a reply; what it still says comes too late, and is passed over. */
	#abandonReply(): void {
		this.#abort?.abort(STOPPED);
		this.#turn = null;
		this.#abort = null;
	}

	#runningTurn({ question, reply }: Turn): RunningTurn {
		return { question, reply, position: this.#position, restarted: this.#restarted };
	}

	/** Whether this reply is being written; reports of one whose conversation was erased come late. */
	#isWriting(replyId: string): boolean {
		return this.#turn?.reply.id === replyId;
	}

	/** Reports to this actor; false while its mailbox has no room: then later. */
	#tellSelf(message: ConversationMessage): boolean {
		try {
			this.#self.tell(message);
			return true;
		} catch (error) {
			if (error instanceof MailboxFullError) return false;
			throw error;
		}
	}

	/**
	 * A commit that has no caller to answer to. Any failure discards this actor, also one of the disk: whoever comes next
	 * finds the reply unfinished in the store and takes it up.
	 */
	async #commitOrDiscard(commit: Commit): Promise<number[]> {
		try {
			return requireCommitted(await this.#deps.store.commit(commit)).seqs;
		} catch (error) {
			throw new Error(`The reply could not be stored: ${messageOf(error)}`, { cause: error });
		}
	}
}

/** Anything but success means that our memory is out of date: the error discards this actor, and the store is read anew. */
function requireCommitted(result: CommitOutcome): Extract<CommitOutcome, { outcome: 'committed' }> {
	if (result.outcome === 'replay') throw new IdempotentReplayError(result);
	if (result.outcome !== 'committed') throw new Error(`The conversation's change was refused (${result.outcome}).`);
	return result;
}
