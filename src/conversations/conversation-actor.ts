import { type Actor, MailboxFull, type SelfRef } from '../actors/index.ts';
import { AppError, type Clock, messageOf } from '../base/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Commit, CommitOutcome, ConversationRecord, MessageRecord, Store } from '../store/index.ts';
import { type ReplyDependencies, STOPPED, writeReply } from './reply.ts';
import { beginTurn, endTurn, type IncomingMessage, type ReplyOutcome, restartTurn, type Turn } from './turn.ts';

export type ConversationMessage =
	/** `start`: the conversation to begin, where it does not exist yet. */
	| { type: 'send'; message: IncomingMessage; model: string; start: ConversationRecord | null }
	| { type: 'stop' }
	| { type: 'resume' }
	/** Reports of the reply that is being written. */
	| { type: 'text'; text: string }
	| { type: 'ended'; outcome: ReplyOutcome };

/** What a message to the actor is answered with. */
export type ConversationAnswer =
	| { sent: SentMessage }
	/** The turn whose reply was being written, null where none was. */
	| { stopped: SentMessage | null };

/** A stored message, the reply that is being written to it, and the event after which the stream tells of both. */
export interface SentMessage {
	question: MessageRecord;
	reply: MessageRecord;
	position: number;
}

export interface ConversationDependencies extends ReplyDependencies {
	store: Store;
	outbox: Pick<Outbox, 'grow'>;
	clock: Clock;
	/** Milliseconds that a reply may take. */
	replyMs: number;
}

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
	/** The event after which the stream tells of this turn. */
	#position = 0;

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

	takesUserMessages(): boolean {
		return this.#turn === null;
	}

	canPassivate(): boolean {
		return this.#turn === null;
	}

	discard(): void {
		this.#abort?.abort(new Error('The conversation was loaded anew.'));
	}

	handle(message: ConversationMessage): ConversationAnswer | Promise<ConversationAnswer> {
		switch (message.type) {
			case 'text':
				if (this.#turn) this.#deps.outbox.grow(this.#turn.conversation.id, message.text);
				return { stopped: null };
			case 'send':
				return this.#send(message.message, message.model, message.start);
			case 'ended':
				return this.#end(message.outcome);
			case 'stop':
				return this.#stop();
			case 'resume':
				return this.#resume();
		}
	}

	async #send(message: IncomingMessage, model: string, start: ConversationRecord | null): Promise<ConversationAnswer> {
		const conversation = this.#record ?? start;
		if (!conversation) throw new AppError('not_found', 'The conversation does not exist.');
		if (conversation.status === 'archived') throw new AppError('conversation_archived');
		const { commit, turn } = beginTurn(conversation, this.#record === null, message, model, this.#deps.clock.now());
		const { seqs } = committed(await this.#deps.store.commit(commit));
		this.#record = turn.conversation;
		this.#write(turn);
		// The stream events of this turn are the last two: whoever follows from just before sees the turn from its start.
		this.#position = (seqs.at(-2) as number) - 1;
		return { sent: { question: turn.question, reply: turn.reply, position: this.#position } };
	}

	#stop(): ConversationAnswer {
		const turn = this.#turn;
		const abort = this.#abort;
		abort?.abort(STOPPED);
		return { stopped: turn && abort ? { question: turn.question, reply: turn.reply, position: this.#position } : null };
	}

	async #end(outcome: ReplyOutcome): Promise<ConversationAnswer> {
		if (!this.#turn) throw new Error('a reply ended that was not being written');
		const { commit, conversation } = endTurn(this.#turn, outcome, this.#deps.clock.now());
		await this.#mustCommit(commit);
		this.#record = conversation;
		this.#turn = null;
		this.#abort = null;
		return { stopped: null };
	}

	/** Writes a reply again that was cut off, or gives it up when that happened before. */
	async #resume(): Promise<ConversationAnswer> {
		if (!this.#turn || this.#abort) return { stopped: null };
		const { conversation, question, reply } = this.#turn;
		if (reply.attempts >= ATTEMPTS) {
			const error = { code: 'interrupted', message: 'The reply was interrupted twice and has been given up.' };
			return this.#end({ content: '', status: 'failed', citations: [], usage: null, error });
		}
		const [seq = 1] = await this.#mustCommit(restartTurn(this.#turn, this.#deps.clock.now()));
		this.#position = seq - 1;
		this.#write({
			conversation,
			question,
			reply: { ...reply, attempts: reply.attempts + 1, version: reply.version + 1 },
		});
		return { stopped: null };
	}

	/** Lets the reply be written beside the mailbox; its text comes back as messages, joined per turn of the event loop. */
	#write(turn: Turn): void {
		const abort = new AbortController();
		this.#turn = turn;
		this.#abort = abort;
		const late = new AppError('model_error', 'The model took too long to answer.');
		const deadline = setTimeout(() => abort.abort(late), this.#deps.replyMs);
		let pending = '';
		const flush = () => {
			const text = pending;
			pending = '';
			if (text !== '' && !this.#report({ type: 'text', text })) onText(text);
		};
		const onText = (text: string) => {
			if (pending === '') setImmediate(flush);
			pending += text;
		};
		const onEnd = (outcome: ReplyOutcome) => {
			flush();
			if (pending !== '' || !this.#report({ type: 'ended', outcome })) setImmediate(onEnd, outcome);
		};
		void writeReply(this.#deps, turn, onText, abort.signal).then((outcome) => {
			clearTimeout(deadline);
			onEnd(outcome);
		});
	}

	/** Reports to this actor; false while its mailbox has no room: then later. */
	#report(message: ConversationMessage): boolean {
		try {
			this.#self.tell(message);
			return true;
		} catch (error) {
			if (error instanceof MailboxFull) return false;
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
	if (result.outcome !== 'committed') throw new Error(`The conversation's change was refused (${result.outcome}).`);
	return result;
}
