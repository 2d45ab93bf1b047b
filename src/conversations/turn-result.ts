import type { MessageRecord } from '../store/index.ts';

/** A stored message, the reply that is being written to it, and the position in the stream before the events of both. */
export interface RunningTurn {
	question: MessageRecord;
	reply: MessageRecord;
	position: number;
	/** The reply was started again: after `position` the stream has a reset, and not the question. */
	restarted: boolean;
}

/** A turn whose reply has ended well. */
export interface FinishedTurn {
	question: MessageRecord;
	finishedReply: MessageRecord;
	/** The number of the event that closed the reply; 0 where the event was erased. */
	closingSeq: number;
}

/** A message to a human, who answers later. */
export interface MessageForHuman {
	messageForHuman: MessageRecord;
	/** The position in the stream before its event; 0 where that is not known any more. */
	position: number;
}
