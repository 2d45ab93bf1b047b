import type { PendingMessage } from '../transport/conversation-storage.ts';
import type { Announcement } from './announcement.ts';
import type { ConversationConnection } from './conversation-connection.ts';
import type { MessageQueue } from './message-queue.ts';

export interface DeliveryOptions extends ConversationConnection {
	/** Announces something to screen readers. */
	announce(what: Announcement): void;
	load(conversation: string, signal?: AbortSignal): Promise<void>;
	/** The delivery's state or something visible has changed. */
	update(): void;
}

/** What the steps of a delivery share. */
export interface DeliveryParts extends DeliveryOptions {
	queue: MessageQueue;
	state: DeliveryState;
	/** Whether a message is being sent or a reply is in progress. */
	isBusy(): boolean;
	/** Sends a message until it is answered or refused. */
	deliver(pending: PendingMessage): Promise<void>;
	/** Queues a message and sends it when possible. */
	send(text: string): void;
}

/** The delivery that is in progress. */
export interface DeliveryState {
	/** Aborts it. */
	current_: AbortController | null;
	/** The message waits for its next attempt. */
	isStuck_: boolean;
	isStopRequested_: boolean;
	/** The message that is sent again with the next token. */
	waitingForToken_: PendingMessage | null;
}
