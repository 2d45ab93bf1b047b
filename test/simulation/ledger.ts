import { isDeepStrictEqual } from 'node:util';
import { require } from './violation.ts';

/** A message that a visitor sends, with all repeats of its request. */
export interface SentMessage {
	/** Different from that of every other message. */
	content: string;
	/** The Idempotency-Key; null: the request is never repeated. */
	key: string | null;
	/** Absent: it starts a conversation. */
	conversationId: string | undefined;
	/** Of the first attempt, in virtual time. */
	sentAt: number;
	/** Attempts whose response is not known, or which the server could not complete. */
	uncertain: number;
	/** From an acknowledgement: a response in JSON, or the first event of a stream. */
	questionId: string | null;
	replyId: string | null;
	/** The id of the question that, as a response showed, a person answers. A repeat after its erasure makes another question. */
	idForPerson: string | null;
	/** The JSON of the first response with status 200. */
	response: unknown;
}

/** A change by a person of the workspace that the server has acknowledged. */
export interface AcknowledgedChange {
	conversationId: string;
	/** The version of the conversation that the response named. */
	version: number;
}

/** What the clients have asked for, and what the server has acknowledged. */
export class Ledger {
	readonly sent: SentMessage[] = [];
	readonly changes: AcknowledgedChange[] = [];
	/** Messages of people: content by id. */
	readonly agentMessages = new Map<string, { conversationId: string; content: string }>();
	/** Responses to requests of people with an Idempotency-Key. */
	readonly #responses = new Map<string, unknown>();
	/** Contents of all messages that people have tried to send, and how often that may have succeeded. */
	readonly agentContents = new Map<string, { key: string | null; attempts: number }>();
	/** Conversations whose erasure was requested, and those for which it was acknowledged. */
	readonly purgesRequested = new Set<string>();
	readonly purgesAcknowledged = new Set<string>();
	/** Last messages that a reader may have read, by conversation: more than one where a response was lost. */
	readonly read = new Map<string, Set<number>>();

	/** Messages that were erased with their conversation. The receipt of their request is erased too: a repeat of it is a new request. */
	readonly erasedMessages = new Set<string>();

	/** A message was acknowledged: all acknowledgements of one key name the same messages. */
	acknowledge(sent: SentMessage, questionId: string, replyId: string | null): void {
		if (this.erasedMessages.has(questionId)) return;
		if (sent.questionId !== null && this.erasedMessages.has(sent.questionId)) {
			Object.assign(sent, { questionId: null, replyId: null, response: null });
		}
		require(sent.questionId === null || sent.questionId === questionId, () => {
			return `the request of '${sent.content}' has stored ${sent.questionId}, and its repeat ${questionId}`;
		});
		require(sent.replyId === null || replyId === null || sent.replyId === replyId, () => {
			return `the reply to '${sent.content}' was ${sent.replyId}, and is ${replyId}`;
		});
		sent.questionId = questionId;
		if (replyId !== null) sent.replyId = replyId;
	}

	/** A response with status 200: that of a repeat has the same content. */
	recordResponse(sent: SentMessage, response: unknown): void {
		if (sent.key === null || this.erasedMessages.has((response as { id: string }).id)) return;
		require(sent.response === null || isDeepStrictEqual(sent.response, response), () => {
			return `a repeat of '${sent.content}' got ${JSON.stringify(response)} after ${JSON.stringify(sent.response)}`;
		});
		sent.response = response;
	}

	/** The response to a request of a person with a key. */
	recordKeyedResponse(key: string, response: unknown): void {
		const former = this.#responses.get(key);
		require(former === undefined || isDeepStrictEqual(former, response), () => {
			return `a repeat of ${key} got ${JSON.stringify(response)} after ${JSON.stringify(former)}`;
		});
		this.#responses.set(key, response);
	}
}
