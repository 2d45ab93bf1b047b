import type { AnswerEvent } from './answer-event.ts';
import type { ModelCall } from './prompt-message.ts';
import type { ProviderSettings } from './settings.ts';

/** A POST request to a service. */
export interface ServiceRequest {
	url: string;
	headers: Record<string, string>;
	/** JSON. */
	body: string;
}

/** One server-sent event, as far as the protocols use it. */
export interface StreamEvent {
	event?: string | undefined;
	data: string;
}

/**
 * Reads the server-sent events of one answer. It is synchronous and keeps only what is unfinished. What it throws ends the
 * answer; the events that it has added before still count.
 */
export interface AnswerReader {
	/** Whether the answer is complete: what follows in the stream has no meaning. */
	readonly isFinished: boolean;
	/**
	 * Adds what a server-sent event means.
	 * @throws ServiceError where the service reports an error, ProviderError where the event is not part of the protocol
	 */
	read(event: StreamEvent, events: AnswerEvent[]): void;
	/**
	 * Adds what the end of the stream means.
	 * @throws ProviderError where the answer is not complete
	 */
	end(events: AnswerEvent[]): void;
}

/** How services of one protocol are asked, and how their answers are read. */
export interface ChatProtocol {
	request(call: ModelCall, settings: ProviderSettings): ServiceRequest;
	/** A reader for one answer. */
	reader(): AnswerReader;
}
