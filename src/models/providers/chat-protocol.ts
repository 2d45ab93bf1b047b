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

/** The members of a server-sent event that the protocols use. */
export interface StreamEvent {
	event?: string | undefined;
	data: string;
}

/**
 * Reads the server-sent events of one answer. It is synchronous and keeps only unfinished parts. An exception ends the
 * answer; the events that it added before still count.
 */
export interface AnswerReader {
	/** Whether the answer is complete. The rest of the stream has no meaning. */
	readonly isFinished: boolean;
	/**
	 * Adds the events of the answer that a server-sent event contains.
	 * @throws ReportedError if the service reports an error, ProviderError for an event that is not part of the protocol
	 */
	read(event: StreamEvent, events: AnswerEvent[]): void;
	/**
	 * Adds the events at the end of the stream.
	 * @throws ProviderError if the answer is not complete
	 */
	end(events: AnswerEvent[]): void;
}

/** The requests of one protocol, and the reader of its answers. */
export interface ChatProtocol {
	request(call: ModelCall, settings: ProviderSettings): ServiceRequest;
	/** Makes a reader for one answer. */
	reader(): AnswerReader;
}
