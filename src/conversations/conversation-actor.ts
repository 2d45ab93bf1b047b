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
import { eraseRemains } from './erasure.ts';
import { type Expiry, expireConversation } from './expiry.ts';
import { type AgentMessage, agentMessage, type HandOver, handOver } from './hand-over.ts';
import { outcomeOf, type ReplyDependencies, STOPPED, writeReply } from './reply.ts';
import { progressFrom, type ReplyListener, type ReplyProgress } from './reply-progress.ts';
import { type ReplyRound, roundsOf } from './reply-rounds.ts';
import { ReportQueue } from './report-queue.ts';
import { restartTurn, rewriteTurn } from './restart.ts';
import { beginRound, endCall } from './round-commits.ts';
import { beginTurn, endTurn, type IncomingMessage, noteMessage, type ReplyOutcome, type Turn } from './turn.ts';

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
export type ConversationAnswer =
	| { sent: SentMessage }
	/** The turn whose reply was (to `stop`) or is (to `join`, `rewrite`) being written, null where none is. */
	| { turn: SentMessage | null }
	| { changed: ConversationRecord }
	| { said: MessageRecord }
	/** Whether it was erased; not where somebody has said something, or its workspace was changed. */
	| { expired: boolean }
	/** A message to a person, who answers when they do; the stream from `position` tells of it. */
	| { noted: MessageRecord; position: number }
	| { done: true };

/** A stored message, the reply that is being written to it, and the event after which the stream tells of both. */
export interface SentMessage {
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
	replyMs: number;
}

const DONE: ConversationAnswer = { done: true };

/** How often a reply is begun before it is given up as interrupted. */
const ATTEMPTS = 2;

/**
 * One conversation: stores what is said, in order, and sees to it that every message gets its reply. The reply is written
 * beside the mailbox and reports back, so that `stop` never waits behind it; while it is written, further messages wait.
 */
export class ConversationActor implements Actor<ConversationMessage, ConversationAnswer> {
	readonly #deps: ConversationDependencies;
	readonly #self: SelfRef<ConversationMessage, ConversationAnswer>;
	/** Null until the first message has been stored. */
	#record: ConversationRecord | null;
	/** The turn whose reply is being written. */
	#turn: Turn | null = null;
	#abort: AbortController | null = null;
	/** What there is of the reply that is being written. */
	#progress: ReplyProgress = progressFrom([]);
	/** Resolves once the round whose calls are to be carried out is on disk. */
	#roundStored: Deferred<void> | null = null;
	/** The event after which the stream tells of this turn. */
	#position = 0;
	#restarted = false;

	/** @param unfinished the turn whose reply a process before this one (or an actor before this one) did not finish */
	constructor(
		deps: ConversationDependencies,
		self: SelfRef<ConversationMessage, ConversationAnswer>,
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

	handle(message: ConversationMessage): ConversationAnswer | Promise<ConversationAnswer> {
		switch (message.type) {
			case 'text':
				if (this.#writes(message.replyId))
					this.#deps.outbox.appendText((this.#turn as Turn).conversation.id, message.text);
				return DONE;
			case 'round':
				return this.#writes(message.replyId) ? this.#beginRound(message.round) : DONE;
			case 'tool_call':
				return this.#writes(message.replyId) ? this.#endCall(message.call) : DONE;
			case 'send':
				return this.#send(message.message, message.model, message.start);
			case 'ended':
				return this.#writes(message.replyId) ? this.#end(message.outcome) : DONE;
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

	async #send(message: IncomingMessage, model: string, start: ConversationRecord | null): Promise<ConversationAnswer> {
		const conversation = this.#record ?? start;
		if (!conversation) throw new AppError('not_found', 'The conversation does not exist.');
		if (conversation.status === 'archived') throw new AppError('conversation_archived');
		if (conversation.handled_by === 'human') return this.#note(conversation, message);
		const { commit, turn } = beginTurn(conversation, this.#record === null, message, model, this.#deps.clock.now());
		const storing = this.#deps.store.commit(commit).then(committed);
		this.#write(turn, storing);
		const { seqs } = await storing.catch((error: unknown) => {
			this.#drop();
			throw error;
		});
		this.#record = turn.conversation;
		// The stream events of this turn are the last two: whoever follows from just before sees the turn from its start.
		this.#position = (seqs.at(-2) as number) - 1;
		this.#restarted = false;
		return { sent: this.#sent(turn) };
	}

	/** Keeps a message for the person who has the conversation. */
	async #note(conversation: ConversationRecord, message: IncomingMessage): Promise<ConversationAnswer> {
		const { commit, conversation: next, noted } = noteMessage(conversation, message, this.#deps.clock.now());
		const { seqs } = committed(await this.#deps.store.commit(commit));
		this.#record = next;
		return { noted, position: (seqs.at(-1) as number) - 1 };
	}

	async #beginRound(round: ReplyRound): Promise<ConversationAnswer> {
		const { commit, turn } = beginRound(this.#turn as Turn, round, this.#deps.clock.now());
		await this.#mustCommit(commit);
		this.#turn = turn;
		this.#roundStored?.resolve();
		return DONE;
	}

	async #endCall(call: ToolCall): Promise<ConversationAnswer> {
		const { commit, turn } = endCall(this.#turn as Turn, call, this.#deps.clock.now());
		await this.#mustCommit(commit);
		this.#turn = turn;
		return DONE;
	}

	async #handOver(change: HandOver): Promise<ConversationAnswer> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const running = this.#turn && { turn: this.#turn, outcome: outcomeOf(this.#progress, 'stopped') };
		const handed = handOver(this.#record, running, change, this.#deps.clock.now());
		if (!handed) return { changed: this.#record };
		committed(await this.#deps.store.commit(handed.commit));
		this.#record = handed.conversation;
		if (change.to === 'human') {
			this.#drop();
		}
		return { changed: this.#record };
	}

	async #say(saying: AgentMessage): Promise<ConversationAnswer> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const { commit, conversation, message } = agentMessage(this.#record, saying, this.#deps.clock.now());
		committed(await this.#deps.store.commit(commit));
		this.#record = conversation;
		return { said: message };
	}

	#stop(): ConversationAnswer {
		const turn = this.#turn;
		const abort = this.#abort;
		abort?.abort(STOPPED);
		return { turn: turn && abort ? this.#sent(turn) : null };
	}

	async #end(outcome: ReplyOutcome): Promise<ConversationAnswer> {
		if (!this.#turn) throw new Error('a reply ended that was not being written');
		const { commit, conversation } = endTurn(this.#turn, outcome, this.#deps.clock.now());
		await this.#mustCommit(commit);
		this.#record = conversation;
		this.#turn = null;
		this.#abort = null;
		return DONE;
	}

	async #join(replyId: string): Promise<ConversationAnswer> {
		if (!this.#writes(replyId)) return { turn: null };
		// A turn that a process before this one left is taken up first: its stream begins there.
		await this.#resume();
		return { turn: this.#turn && this.#sent(this.#turn) };
	}

	async #rewrite(questionId: string, replyId: string): Promise<ConversationAnswer> {
		const { store, clock } = this.#deps;
		const [question, reply] = [await store.get('messages', questionId), await store.get('messages', replyId)];
		if (!this.#record || !question || !reply) throw new AppError('not_found', 'The conversation does not exist.');
		// Another repeat was faster.
		if (reply.status !== 'failed') return { turn: null };
		if (this.#record.status === 'archived') throw new AppError('conversation_archived');
		// Somebody has the conversation who has read the question, and answers when they do.
		if (this.#record.handled_by === 'human') return { noted: question, position: 0 };
		const assistant = await store.get('assistants', this.#record.assistant_id);
		const model = assistant?.model ?? (reply.model as string);
		const rounds = await roundsOf(store, replyId);
		const { commit, turn } = rewriteTurn(this.#record, question, reply, rounds, model, clock.now());
		const { seqs } = committed(await store.commit(commit));
		this.#position = (seqs[0] as number) - 1;
		this.#restarted = true;
		this.#write(turn);
		return { turn: this.#sent(turn) };
	}

	async #change(change: ConversationChange): Promise<ConversationAnswer> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const changed = changeConversation(this.#record, change, this.#deps.clock.now());
		if (changed) {
			committed(await this.#deps.store.commit(changed.commit));
			this.#record = changed.conversation;
			// The reply that is being written ends on the conversation as it is now.
			if (this.#turn) this.#turn = { ...this.#turn, conversation: changed.conversation };
		}
		return { changed: this.#record };
	}

	async #erase(erasure: Omit<ConversationChange, 'patch'>): Promise<ConversationAnswer> {
		if (!this.#record) throw new AppError('not_found', 'The conversation does not exist.');
		const { id } = this.#record;
		committed(await this.#deps.store.commit(eraseConversation(this.#record, erasure)));
		this.#forget(id);
		await eraseRemains(this.#deps.store, id);
		return DONE;
	}

	async #expire(expiry: Expiry): Promise<ConversationAnswer> {
		const commit = this.#record && !this.#turn ? expireConversation(this.#record, expiry) : null;
		if (!this.#record || !commit) return { expired: false };
		const result = await this.#deps.store.commit(commit);
		if (result.outcome === 'conflict' && result.kind === 'workspaces') return { expired: false };
		committed(result);
		const { id } = this.#record;
		this.#forget(id);
		await eraseRemains(this.#deps.store, id);
		return { expired: true };
	}

	/** Nothing is left of the conversation: nobody writes in it or follows it any more. */
	#forget(id: string): void {
		this.#abort?.abort(new Error('The conversation was erased.'));
		this.#record = null;
		this.#turn = null;
		this.#abort = null;
		this.#deps.outbox.close(id);
	}

	/** Writes a reply again that was cut off, or gives it up when that happened before. */
	async #resume(): Promise<ConversationAnswer> {
		if (!this.#turn || this.#abort) return DONE;
		const { reply, rounds } = this.#turn;
		if (reply.attempts >= ATTEMPTS) {
			const error = { code: 'interrupted', message: 'The reply was interrupted twice and has been given up.' };
			return this.#end(outcomeOf(progressFrom(rounds), 'failed', error));
		}
		const { commit, turn } = restartTurn(this.#turn, this.#deps.clock.now());
		const [seq = 1] = await this.#mustCommit(commit);
		this.#position = seq - 1;
		this.#restarted = true;
		this.#write(turn);
		return DONE;
	}

	/**
	 * Lets the reply be written beside the mailbox; its text comes back as messages, joined per turn of the event loop.
	 * @param stored the commit of the turn, where that is still under way: what the reply needs is gathered meanwhile
	 */
	#write(turn: Turn, stored?: Promise<unknown>): void {
		const abort = new AbortController();
		const replyId = turn.reply.id;
		this.#turn = turn;
		this.#abort = abort;
		const late = new AppError('model_error', 'The model took too long to answer.');
		const deadline = setTimeout(() => abort.abort(late), this.#deps.replyMs);
		const reports = new ReportQueue<ConversationMessage>(
			(message) => this.#report(message),
			() => this.#self.waitForCapacity(),
		);
		const progress = progressFrom(turn.rounds);
		this.#progress = progress;
		const listener: ReplyListener = {
			text: (text) => reports.addText(text, (all) => ({ type: 'text', replyId, text: all })),
			round: (round) => {
				const stored = deferred<void>();
				this.#roundStored = stored;
				reports.add({ type: 'round', replyId, round: { ...round, calls: [...round.calls] } });
				return stored.promise;
			},
			toolCall: (call) => reports.add({ type: 'tool_call', replyId, call }),
		};
		if (progress.text !== '') listener.text(progress.text);
		void writeReply(this.#deps, turn, progress, listener, abort.signal, stored).then((outcome) => {
			clearTimeout(deadline);
			reports.add({ type: 'ended', replyId, outcome });
		});
	}

	/** Ends the writing of a reply; what it still says comes too late, and is passed over. */
	#drop(): void {
		this.#abort?.abort(STOPPED);
		this.#turn = null;
		this.#abort = null;
	}

	#sent({ question, reply }: Turn): SentMessage {
		return { question, reply, position: this.#position, restarted: this.#restarted };
	}

	/** Whether this reply is being written; reports of one whose conversation was erased come late. */
	#writes(replyId: string): boolean {
		return this.#turn?.reply.id === replyId;
	}

	/** Reports to this actor; false while its mailbox has no room: then later. */
	#report(message: ConversationMessage): boolean {
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
	async #mustCommit(commit: Commit): Promise<number[]> {
		try {
			return committed(await this.#deps.store.commit(commit)).seqs;
		} catch (error) {
			throw new Error(`The reply could not be stored: ${messageOf(error)}`, { cause: error });
		}
	}
}

/** Anything but success means that our memory is out of date: the error discards this actor, and the store is read anew. */
function committed(result: CommitOutcome): Extract<CommitOutcome, { outcome: 'committed' }> {
	if (result.outcome === 'replay') throw new IdempotentReplayError(result);
	if (result.outcome !== 'committed') throw new Error(`The conversation's change was refused (${result.outcome}).`);
	return result;
}
