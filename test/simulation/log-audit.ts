import type { Database } from 'better-sqlite3';
import { checkStatement } from './check-statements.ts';
import { require } from './violation.ts';

interface LoggedEvent {
	seq: number;
	id: string;
	stream: string;
	type: string;
	data: string;
	subject: string | null;
}

/** A conversation as its events tell it. */
interface ToldConversation {
	handledBy: 'model' | 'human';
	status: 'active' | 'archived';
	/** The message whose text is open. */
	openMessage: string | null;
	/** Interruptions before it was opened last, and how often it was opened again since its beginning. */
	interruptions: number;
	restarts: number;
	/** Messages that the workspace was told of, with their status. */
	told: Map<string, string>;
}

/**
 * Reads each new event of the log after its commit, and checks its order: a text is open once, ends once, and never while a person
 * handles the conversation; each message has one event for the workspace, and a failed reply another one when it was rewritten.
 */
export class LogAudit {
	/** What the figures of the workspace must be in the end. */
	readonly counts = { conversations: 0, visitor: 0, model: 0, human: 0, takeovers: 0 };
	/** Conversations that a person has ever handled. */
	readonly takenOver = new Set<string>();
	readonly #interruptions: () => number;
	readonly #db: Database;
	readonly #conversations = new Map<string, ToldConversation>();
	#lastSeq = 0;

	/** @param interruptions how many faults have occurred, and how many processes have ended */
	constructor(db: Database, interruptions: () => number) {
		this.#db = db;
		this.#interruptions = interruptions;
	}

	/** Reads the events of the last commit. */
	readNew(): void {
		const events = checkStatement(
			this.#db,
			'SELECT seq, id, stream, type, data, subject FROM events WHERE seq > ? ORDER BY seq',
		).all(this.#lastSeq) as LoggedEvent[];
		for (const event of events) {
			this.#lastSeq = event.seq;
			const data = JSON.parse(event.data);
			if (event.stream.startsWith('ws_')) this.#readForWorkspace(event, data);
			else if (event.stream.startsWith('statistics_')) this.counts.takeovers++;
			else this.#readForFollowers(event, data);
		}
	}

	forget(conversationId: string): void {
		this.#conversations.delete(conversationId);
	}

	#readForWorkspace({ type, subject }: LoggedEvent, data: Record<string, never>): void {
		const id = subject as string;
		if (type === 'conversation.created') {
			require(!this.#conversations.has(id), () => `${id} is created twice`);
			this.#conversations.set(id, {
				handledBy: 'model',
				openMessage: null,
				interruptions: 0,
				restarts: 0,
				told: new Map(),
				status: 'active',
			});
			this.counts.conversations++;
			return;
		}
		const conversation = this.#conversations.get(id);
		require(conversation !== undefined, () => `${type} comes before ${id} is created`);
		if (type === 'conversation.updated') {
			conversation.handledBy = data.handled_by as unknown as 'model' | 'human';
			conversation.status = data.status as unknown as 'active' | 'archived';
			if (conversation.handledBy === 'human') this.takenOver.add(id);
		}
		if (type === 'message.created') this.#readMessage(conversation, data as never);
	}

	#readMessage(
		conversation: ToldConversation,
		message: { id: string; status: string; author: { type: 'visitor' | 'model' | 'human' } },
	): void {
		const { id, status, author } = message;
		const former = conversation.told.get(id);
		require(former === undefined || former === 'failed', () => `${id} is told as ${status} after ${former}`);
		require(status !== 'in_progress', () => `the unfinished ${id} is told`);
		const isByModel = author.type === 'model';
		require(!isByModel || conversation.handledBy === 'model', () => `the model's ${id} ends while a person answers`);
		require(author.type !== 'human' || conversation.handledBy === 'human', () => `a person's ${id} has no takeover`);
		require(isByModel || conversation.status === 'active', () => `${id} comes while the conversation is archived`);
		conversation.told.set(id, status);
		this.counts[author.type]++;
	}

	#readForFollowers({ stream, type }: LoggedEvent, data: { message_id?: string; text?: 'opens' | 'closes' }): void {
		const conversation = this.#conversations.get(stream);
		require(conversation !== undefined, () => `${type} comes before ${stream} is created`);
		const { message_id = null, text } = data;
		const { openMessage } = conversation;
		if (text === 'opens') {
			const isAgain = type === 'message.reset' && openMessage === message_id;
			require(openMessage === null || isAgain, () => `${message_id} opens while ${openMessage} is open`);
			require(conversation.handledBy === 'model', () => `${message_id} opens while a person answers`);
			const interruptions = this.#interruptions();
			if (isAgain) {
				conversation.restarts++;
				require(conversation.restarts <= 1, () => `${message_id} is started for the third time`);
				require(interruptions > conversation.interruptions, () => `${message_id} is reset without an interruption`);
			} else {
				conversation.restarts = 0;
			}
			conversation.interruptions = interruptions;
			conversation.openMessage = message_id;
		} else if (text === 'closes') {
			require(openMessage === message_id, () => `${message_id} closes while ${openMessage} is open`);
			conversation.openMessage = null;
		} else if (type.startsWith('tool.')) {
			require(openMessage === message_id, () => `a call of ${message_id} is told while ${openMessage} is open`);
		}
	}
}
