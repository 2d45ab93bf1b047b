import type { Actor, SelfRef } from '../actors/index.ts';
import { AppError, inSpan, messageOf, NO_SPAN, OtherNodeError, type Span } from '../base/index.ts';
import type { Budgets } from '../costs/index.ts';
import type { Outbox } from '../outbox/index.ts';
import {
	type Commit,
	type CommitOutcome,
	type ConversationRecord,
	expectVersion,
	IdempotentReplayError,
	type ShardFence,
	type Store,
} from '../store/index.ts';
import { changeConversation, eraseConversation } from './change.ts';
import type { ConversationMessage, ConversationResult, WithReceipt } from './conversation-messages.ts';
import { eraseRemainingRows } from './erasure.ts';
import { expireConversation } from './expiry.ts';
import { agentMessage, handOver } from './hand-over.ts';
import { conversationNotFound } from './not-found.ts';
import { addNote, removeNote } from './notes.ts';
import { changePersonRequest } from './person-request.ts';
import { spenderOf, UsageLimitError } from './reply-cost.ts';
import { interruptedOutcome, publicError } from './reply-outcome.ts';
import { roundsOf } from './reply-rounds.ts';
import { ReplyTask, type ReplyTaskDependencies } from './reply-task.ts';
import { completeReceipt, type RequestOutcome } from './request-receipt.ts';
import { restartTurn, rewriteTurn } from './restart.ts';
import { beginRound, endCall } from './round-commits.ts';
import { beginTurn, endTurn, type ReplyOutcome, storeForHuman, type Turn } from './turn.ts';
import type { RunningTurn } from './turn-result.ts';
import type { ReplyUsage } from './turn-state.ts';
import { type Reserve, withinBudget, withNextCall, withRestartedCall } from './within-budget.ts';

export interface ConversationDependencies extends ReplyTaskDependencies {
	store: Store;
	outbox: Pick<Outbox, 'appendText' | 'close'>;
	budgets: Budgets;
}

/** A commit, and the conversation after it. */
interface ConversationCommit {
	commit: Commit;
	conversation: ConversationRecord;
}

type Result = ConversationResult | Promise<ConversationResult>;
type Message<T extends ConversationMessage['type']> = Extract<ConversationMessage, { type: T }>;
/** One handler per message, under its name. */
type Handlers = { [T in ConversationMessage['type']]: (message: Message<T>) => Result };

const DONE: ConversationResult = { done: true };

/** How often a reply is started before it fails as interrupted. */
const MAX_REPLY_ATTEMPTS = 2;

/**
 * One conversation: stores its messages in order, and writes a reply to each. The reply is written beside the mailbox and
 * reports back, so that `stop` never waits behind it; until it ends, further messages wait.
 */
export class ConversationActor implements Actor<ConversationMessage, ConversationResult>, Handlers {
	readonly #deps: ConversationDependencies;
	readonly #self: SelfRef<ConversationMessage, ConversationResult>;
	/** Null until the first message has been stored. */
	#record: ConversationRecord | null;
	/** The turn whose reply is unfinished. */
	#turn: Turn | null = null;
	/** Writes that reply; null before an interrupted reply is resumed. */
	#task: ReplyTask | null = null;
	/** The span of that reply in the trace of its request. */
	#replySpan = NO_SPAN;
	/** The position in the stream before the events of this turn. */
	#position = 0;
	#restarted = false;
	readonly #fence: ShardFence | undefined;

	/**
	 * @param unfinished the turn whose reply an earlier process, or an earlier actor, did not finish
	 * @param fence its commits carry it: they are refused once another node serves the conversation
	 */
	constructor(
		deps: ConversationDependencies,
		self: SelfRef<ConversationMessage, ConversationResult>,
		record: ConversationRecord | null,
		unfinished: Turn | null,
		fence?: ShardFence,
	) {
		this.#deps = deps;
		this.#self = self;
		this.#record = record;
		this.#turn = unfinished;
		this.#fence = fence;
		if (unfinished) self.tell({ type: 'resume' });
	}

	handle(message: ConversationMessage): Result {
		return this[message.type](message as never);
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
		this.#task?.abort(new Error('The conversation is loaded again.'));
		this.#replySpan.end();
	}

	// A message and its reply

	async send(request: Message<'send'>): Promise<ConversationResult> {
		const { message, model, start, span } = request;
		span.waiting.end();
		const conversation = this.#record ?? start;
		if (!conversation) throw conversationNotFound();
		if (conversation.status === 'archived') throw new AppError('conversation_archived');
		if (conversation.handled_by === 'human') return this.#storeForHuman(conversation, request);
		const { visitor_id } = conversation.visitor_id === null ? message : conversation;
		const now = this.#deps.clock.now();
		return withinBudget(this.#deps, { ...conversation, visitor_id, model }, now, async (admitted, reserve) => {
			const billing = { price: this.#deps.models.priceOf(admitted), reserved: null };
			const begun = beginTurn(conversation, this.#record === null, message, admitted, billing, now);
			const { commit, turn } = await reserve(begun);
			const committing = inSpan(span.own.child('commit'), () => this.#commitRequest(request, commit, turn));
			// The model is asked while the question is written, but not for a question that will probably not be stored, or that a
			// budget may refuse.
			if (!this.#deps.store.isWritable() || turn.billing.reserved !== null) await committing;
			this.#startReply(turn, committing, span.parent.child('reply'));
			const seqs = await committing.catch((error: unknown) => {
				this.#abandonReply();
				throw error;
			});
			this.#record = turn.conversation;
			// The stream events of this turn are the last two: a follower from just before them sees the turn from its start.
			this.#position = (seqs.at(-2) as number) - 1;
			this.#restarted = false;
			return { sent: this.#runningTurn(turn) };
		});
	}

	/** Stores a message for the human who handles the conversation. */
	async #storeForHuman(conversation: ConversationRecord, request: Message<'send'>): Promise<ConversationResult> {
		const stored = storeForHuman(conversation, request.message, this.#deps.clock.now());
		const seqs = await this.#commitRequest(request, stored.commit, { question: stored.messageForHuman, reply: null });
		this.#record = stored.conversation;
		return { messageForHuman: stored.messageForHuman, position: (seqs.at(-1) as number) - 1 };
	}

	appendText({ replyId, text }: Message<'appendText'>): ConversationResult {
		const turn = this.#turnOf(replyId);
		if (turn) this.#deps.outbox.appendText(turn.conversation.id, text);
		return DONE;
	}

	async beginRound({ replyId, round, used }: Message<'beginRound'>): Promise<ConversationResult> {
		const turn = this.#turnOf(replyId);
		if (turn) await this.#commitRound(beginRound(turn, round, this.#deps.clock.now()), used);
		return DONE;
	}

	async anotherCall({ replyId, used }: Message<'anotherCall'>): Promise<ConversationResult> {
		const turn = this.#turnOf(replyId);
		if (turn) await this.#commitRound({ commit: { expect: [expectVersion('messages', turn.reply)] }, turn }, used);
		return DONE;
	}

	/** Stores that the model will be asked again, or tells the reply that a budget does not allow it. */
	async #commitRound(begun: { commit: Commit; turn: Turn }, used: ReplyUsage): Promise<void> {
		const { commit, turn } = await withNextCall(this.#deps, begun, used);
		try {
			await this.#commitReply(commit);
		} catch (error) {
			if (!(error instanceof UsageLimitError)) throw error;
			this.#reportBudgets(turn, error.exceeded);
			this.#task?.refuseRound(error);
			return;
		}
		this.#turn = turn;
		this.#task?.confirmRound();
	}

	async endCall({ replyId, call }: Message<'endCall'>): Promise<ConversationResult> {
		const turn = this.#turnOf(replyId);
		if (!turn) return DONE;
		const ended = endCall(turn, call, this.#deps.clock.now());
		await this.#commitReply(ended.commit);
		this.#turn = ended.turn;
		return DONE;
	}

	async endReply({ replyId, outcome }: Pick<Message<'endReply'>, 'replyId' | 'outcome'>): Promise<ConversationResult> {
		const turn = this.#turnOf(replyId);
		if (!turn) return DONE;
		await this.#endTurn(turn, outcome, (commit) => this.#commitReply(commit));
		return DONE;
	}

	async stop(): Promise<ConversationResult> {
		// An interrupted reply ends with the text of its rounds: only a resumed one can be stopped.
		// It needs no more of a budget, because it is stopped before it asks the model.
		await this.#resumeReply(
			(commit) => this.#commit(commit),
			async (restarted) => restarted,
		);
		this.#task?.stop();
		return { turn: this.#turn && this.#task && this.#runningTurn(this.#turn) };
	}

	// An interrupted reply, and a repeated message

	async resume(): Promise<ConversationResult> {
		await this.#resumeReply((commit) => this.#commitReply(commit));
		return DONE;
	}

	async join({ replyId }: Message<'join'>): Promise<ConversationResult> {
		if (!this.#turnOf(replyId)) return { turn: null };
		// The stream of an interrupted turn starts where the turn is resumed.
		await this.#resumeReply((commit) => this.#commit(commit));
		return { turn: this.#turn && this.#runningTurn(this.#turn) };
	}

	async rewrite({ questionId, replyId }: Message<'rewrite'>): Promise<ConversationResult> {
		const { store, clock } = this.#deps;
		const [question, reply] = [await store.get('messages', questionId), await store.get('messages', replyId)];
		if (!this.#record || !question || !reply) throw conversationNotFound();
		// Another repeat has already started the reply again.
		if (reply.status !== 'failed') return { turn: null };
		if (this.#record.status === 'archived') throw new AppError('conversation_archived');
		// The human who handles the conversation has read the question and answers later.
		if (this.#record.handled_by === 'human') return { messageForHuman: question, position: 0 };
		const assistant = await store.get('assistants', this.#record.assistant_id);
		const model = assistant?.model ?? (reply.model as string);
		const rounds = await roundsOf(store, replyId);
		const record = this.#record;
		const now = clock.now();
		return withinBudget(this.#deps, { ...record, model }, now, async (admitted, reserve) => {
			const billing = { price: this.#deps.models.priceOf(admitted), reserved: null };
			const rewritten = rewriteTurn(record, question, reply, rounds, admitted, billing, now);
			const { commit, turn } = await reserve(rewritten);
			const seqs = await this.#commit(commit);
			this.#position = (seqs[0] as number) - 1;
			this.#restarted = true;
			this.#startReply(turn);
			return { turn: this.#runningTurn(turn) };
		});
	}

	// A human takes over, answers, changes the conversation

	async handOver(change: Message<'handOver'>): Promise<ConversationResult> {
		const record = this.#requireRecord();
		const turn = this.#turn;
		const running = turn && {
			turn,
			outcome: this.#task?.stoppedOutcome() ?? interruptedOutcome(turn.rounds, 'stopped'),
		};
		const result = handOver(record, running, change, this.#deps.clock.now());
		if (!result) return { changed: record };
		const changed = { changed: result.conversation };
		await this.#commitRequest(change, result.commit, changed);
		this.#record = result.conversation;
		if (change.to === 'human') {
			if (turn) this.#reportBudgets(turn);
			this.#abandonReply();
		}
		return changed;
	}

	async sendAgentMessage(request: Message<'sendAgentMessage'>): Promise<ConversationResult> {
		const { commit, conversation, message } = agentMessage(this.#requireRecord(), request, this.#deps.clock.now());
		const stored = { agentMessage: message };
		await this.#commitRequest(request, commit, stored);
		this.#record = conversation;
		return stored;
	}

	async addNote(request: Message<'addNote'>): Promise<ConversationResult> {
		const { commit, note } = addNote(this.#requireRecord(), request, this.#deps.clock.now());
		await this.#commitRequest(request, commit, { note });
		return { note };
	}

	async removeNote(removal: Message<'removeNote'>): Promise<ConversationResult> {
		const note = await this.#deps.store.get('notes', removal.noteId);
		await this.#commit(removeNote(this.#requireRecord(), removal, note, this.#deps.clock.now()));
		return DONE;
	}

	async change(change: Message<'change'>): Promise<ConversationResult> {
		const record = this.#requireRecord();
		return this.#storeChange(record, changeConversation(record, change, this.#deps.clock.now()));
	}

	async requestPerson(request: Message<'requestPerson'>): Promise<ConversationResult> {
		const record = this.#requireRecord();
		return this.#storeChange(record, changePersonRequest(record, request, this.#deps.clock.now()));
	}

	/** Stores a change of the conversation's fields; null: nothing changes. */
	async #storeChange(record: ConversationRecord, change: ConversationCommit | null): Promise<ConversationResult> {
		if (!change) return { changed: record };
		await this.#commit(change.commit);
		this.#record = change.conversation;
		// The reply that is being written ends on the changed conversation.
		if (this.#turn) this.#turn = { ...this.#turn, conversation: change.conversation };
		return { changed: change.conversation };
	}

	// The end of the conversation

	async expire(expiry: Message<'expire'>): Promise<ConversationResult> {
		const commit = this.#record && !this.#turn ? expireConversation(this.#record, expiry) : null;
		if (!this.#record || !commit) return { expired: false };
		const result = await this.#store(commit);
		if (result.outcome === 'conflict' && result.kind !== 'conversations') return { expired: false };
		this.#requireCommitted(result);
		await this.#forget(this.#record.id);
		return { expired: true };
	}

	async erase(erasure: Message<'erase'>): Promise<ConversationResult> {
		const record = this.#requireRecord();
		await this.#commit(eraseConversation(record, erasure));
		await this.#forget(record.id);
		return DONE;
	}

	/** The conversation is erased: its reply and its followers end. */
	async #forget(id: string): Promise<void> {
		this.#task?.abort(new Error('The conversation was erased.'));
		this.#replySpan.end();
		this.#record = null;
		this.#turn = null;
		this.#task = null;
		this.#deps.outbox.close(id);
		await eraseRemainingRows(this.#deps.store, id);
	}

	// Parts of the steps above

	#requireRecord(): ConversationRecord {
		if (!this.#record) throw conversationNotFound();
		return this.#record;
	}

	/**
	 * Writes an interrupted reply again, or ends it as failed when that happened before, or when a budget does not allow another call.
	 * @param store `#commitReply`, or `#commit` where a caller waits and gets the error of the disk
	 * @param reserve adds what another call may cost to the commit
	 */
	async #resumeReply(
		store: (commit: Commit) => Promise<number[]>,
		reserve: Reserve = (restarted) => withRestartedCall(this.#deps, restarted),
	): Promise<void> {
		if (!this.#turn || this.#task) return;
		const interrupted = this.#turn;
		const { reply, rounds } = interrupted;
		if (reply.attempts >= MAX_REPLY_ATTEMPTS) {
			const error = { code: 'interrupted', message: 'The reply was interrupted twice and has been given up.' };
			return this.#endTurn(interrupted, interruptedOutcome(rounds, 'failed', error), store);
		}
		const { commit, turn } = await reserve(restartTurn(interrupted, this.#deps.clock.now()));
		let seqs: number[];
		try {
			seqs = await store(commit);
		} catch (error) {
			if (!(error instanceof UsageLimitError)) throw error;
			this.#reportBudgets(interrupted, error.exceeded);
			return this.#endTurn(interrupted, interruptedOutcome(rounds, 'failed', publicError(error)), store);
		}
		this.#position = (seqs[0] ?? 1) - 1;
		this.#restarted = true;
		this.#startReply(turn);
	}

	async #endTurn(turn: Turn, outcome: ReplyOutcome, store: (commit: Commit) => Promise<number[]>): Promise<void> {
		const { commit, conversation } = endTurn(turn, outcome, this.#deps.clock.now());
		await store(commit);
		this.#reportBudgets(turn);
		this.#replySpan.set({ 'parley.reply.status': outcome.status });
		this.#replySpan.end(outcome.error ?? undefined);
		this.#record = conversation;
		this.#turn = null;
		this.#task = null;
	}

	/** @param span of an interrupted reply there is none: the trace of its request has ended */
	#startReply(turn: Turn, committed?: Promise<unknown>, span: Span = NO_SPAN): void {
		this.#turn = turn;
		this.#replySpan = span;
		this.#task = new ReplyTask(this.#deps, this.#self, turn, { committed, span });
	}

	#reportBudgets(turn: Turn, exceeded?: UsageLimitError['exceeded']): void {
		const { reserved } = turn.billing;
		if (reserved === null) return;
		const refusal = exceeded === undefined ? undefined : { exceeded, reserved: reserved.amount };
		void this.#deps.budgets.report(spenderOf(turn), reserved.day, refusal);
	}

	/** Stops writing the reply; later reports of it are ignored. */
	#abandonReply(): void {
		this.#task?.stop();
		this.#replySpan.end();
		this.#turn = null;
		this.#task = null;
	}

	#runningTurn({ question, reply }: Turn): RunningTurn {
		return { question, reply, position: this.#position, restarted: this.#restarted };
	}

	/** The turn of this reply; null for a late report of a reply that was ended, or whose conversation was erased. */
	#turnOf(replyId: string): Turn | null {
		return this.#turn?.reply.id === replyId ? this.#turn : null;
	}

	/** Commits what a request changes, with the request's receipt. */
	#commitRequest({ receipt }: WithReceipt, commit: Commit, outcome: RequestOutcome): Promise<number[]> {
		return this.#commit(receipt ? { ...commit, idempotency: completeReceipt(receipt, outcome) } : commit);
	}

	async #commit(commit: Commit): Promise<number[]> {
		return this.#requireCommitted(await this.#store(commit)).seqs;
	}

	#store(commit: Commit): Promise<CommitOutcome> {
		return this.#deps.store.commit(this.#fence ? { ...commit, fence: this.#fence } : commit);
	}

	/**
	 * Anything but success, and the refusal of a budget, means that the actor's memory is stale: the error discards the actor, and the next
	 * one reads the store. In a cluster that happens where another node serves the conversation, or where a commit of an earlier actor
	 * was under way: nothing was done, and the request may be passed on.
	 */
	#requireCommitted(result: CommitOutcome): Extract<CommitOutcome, { outcome: 'committed' }> {
		if (result.outcome === 'replay') throw new IdempotentReplayError(result);
		if (result.outcome === 'over_budget') throw new UsageLimitError(result.exceeded);
		if (result.outcome === 'committed') return result;
		if (this.#fence) throw new OtherNodeError(this.#self.id);
		throw new Error(`The conversation's change was refused (${result.outcome}).`);
	}

	/**
	 * A commit without a caller. Any failure discards this actor, a failure of the disk too: the next actor finds the reply
	 * unfinished in the store and resumes it.
	 */
	async #commitReply(commit: Commit): Promise<number[]> {
		try {
			return await inSpan(this.#replySpan.child('commit'), () => this.#commit(commit));
		} catch (error) {
			if (error instanceof UsageLimitError) throw error;
			throw new Error(`The reply could not be stored: ${messageOf(error)}`, { cause: error });
		}
	}
}
