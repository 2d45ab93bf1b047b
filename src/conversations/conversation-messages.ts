import type { Span } from '../base/index.ts';
import type { ConversationRecord, MessageRecord, NoteRecord, RequestReceipt } from '../store/index.ts';
import type { ConversationChange } from './change.ts';
import type { Expiry } from './expiry.ts';
import type { AgentMessage, HandOver } from './hand-over.ts';
import type { NewNote, NoteRemoval } from './notes.ts';
import type { PersonRequestChange } from './person-request.ts';
import type { ReplyReport } from './reply-task.ts';
import type { IncomingMessage } from './turn.ts';
import type { MessageForHuman, RunningTurn } from './turn-result.ts';

/** Part of a request's message: the actor stores the receipt in the commit of the change. Null: the request has none. */
export interface WithReceipt {
	receipt: RequestReceipt | null;
}

/** The spans of a message in a trace. */
export interface SendSpans {
	/** The request. The reply is a part of it that may take longer. */
	parent: Span;
	/** Until the message is stored. */
	own: Span;
	/** The wait in the mailbox. */
	waiting: Span;
}

/** What a conversation's actor handles, in the order in which it happens in a conversation. */
export type ConversationMessage =
	/** `start`: the conversation to create, where it does not exist yet. */
	| ({
			type: 'send';
			message: IncomingMessage;
			model: string;
			start: ConversationRecord | null;
			span: SendSpans;
	  } & WithReceipt)
	| ReplyReport
	| { type: 'stop' }
	/** Continues the reply that an earlier process, or an earlier actor, did not finish. */
	| { type: 'resume' }
	/** Returns the turn of this reply, if the reply is being written. */
	| { type: 'join'; replyId: string }
	/** Writes a failed reply again. */
	| { type: 'rewrite'; questionId: string; replyId: string }
	| ({ type: 'handOver' } & HandOver & WithReceipt)
	| ({ type: 'sendAgentMessage' } & AgentMessage & WithReceipt)
	| ({ type: 'addNote' } & NewNote & WithReceipt)
	| ({ type: 'removeNote' } & NoteRemoval)
	| ({ type: 'requestPerson' } & PersonRequestChange)
	| ({ type: 'change' } & ConversationChange)
	| ({ type: 'expire' } & Expiry)
	| ({ type: 'erase' } & Omit<ConversationChange, 'patch'>);

/** What the actor returns for a message. */
export type ConversationResult =
	| { sent: RunningTurn }
	/** The turn whose reply was (`stop`) or is (`join`, `rewrite`) being written; null if there is none. */
	| { turn: RunningTurn | null }
	| { changed: ConversationRecord }
	| { agentMessage: MessageRecord }
	| { note: NoteRecord }
	/** False if the conversation was used since, or its workspace was changed. */
	| { expired: boolean }
	| MessageForHuman
	| { done: true };
