import type { ConversationEvent } from '../../src/conversations/index.ts';
import { require } from './violation.ts';

interface ShownMessage {
	text: string;
	status: string;
	role: string;
	/** Whether deltas may follow. */
	isOpen: boolean;
	/** The stream was interrupted since the text was opened: a reply that has ended meanwhile comes as its closing event alone. */
	wasInterrupted: boolean;
}

interface EndedMessage {
	id: string;
	content: string;
	status: string;
	role: string;
}

/** What a client shows that follows a conversation as docs/api.md describes it, and what the events must fulfil meanwhile. */
export class StreamView {
	/** By id, in the order of their first event. */
	readonly messages = new Map<string, ShownMessage>();
	/** Calls of tools by the id of the message: their last known status. */
	readonly calls = new Map<string, Map<string, string>>();
	/** The position after the last event: a client sends it as Last-Event-ID. */
	lastId: string | null = null;

	readonly #hasFaults: () => boolean;

	/** @param hasFaults whether a fault of the disk has occurred */
	constructor(hasFaults: () => boolean) {
		this.#hasFaults = hasFaults;
	}

	/** The stream began without a position, and has had no event. */
	#isJoining = false;
	/** The reply in the middle of which the stream began: calls before that are not sent. */
	#joinedMessage: string | null = null;

	/** The client opens a stream at its position. The first event of a turn's stream repeats the position before it. */
	onOpened(): void {
		this.#minimum = this.lastId;
		this.#isJoining = this.lastId === null;
		for (const message of this.messages.values()) message.wasInterrupted = true;
	}

	#minimum: string | null = null;

	apply({ id, event, data }: ConversationEvent): void {
		const body = JSON.parse(data);
		require(body.type === event, () => `an event names itself ${body.type} and ${event}`);
		if (event === 'presence') return;
		this.#advance(id, event);
		switch (event) {
			case 'message.created':
				this.#create(body.message);
				return;
			case 'message.delta':
				this.#append(body);
				return;
			case 'message.reset':
				this.messages.set(body.message_id, {
					text: '',
					status: 'in_progress',
					role: 'assistant',
					isOpen: true,
					wasInterrupted: false,
				});
				this.calls.delete(body.message_id);
				return;
			case 'message.completed':
			case 'message.failed':
				this.#end(event, body.message);
				return;
			case 'tool.started':
			case 'tool.completed':
				this.#showCall(event, body);
				return;
		}
	}

	#advance(id: string, event: string): void {
		const minimum = this.#minimum;
		require(minimum === null || comparePositions(id, minimum) > 0, () => `${event} at ${id} follows ${minimum}`);
		this.#minimum = id;
		this.lastId = id;
	}

	#create({ id, content, status, role }: { id: string; content: string; status: string; role: string }): void {
		const shown = this.messages.get(id);
		require(shown === undefined, () => `message ${id} is created twice in one stream`);
		const isOpen = status === 'in_progress';
		if (isOpen && this.#isJoining) this.#joinedMessage = id;
		this.#isJoining = false;
		this.messages.set(id, { text: content, status, role, isOpen, wasInterrupted: false });
	}

	#append({ message_id, index, delta }: { message_id: string; index: number; delta: string }): void {
		const shown = this.messages.get(message_id);
		require(shown?.isOpen === true, () => `a delta comes for ${message_id}, which is not open`);
		require(index === shown.text.length, () => `a delta at ${index} follows ${shown.text.length} characters`);
		shown.text += delta;
	}

	#end(event: string, message: EndedMessage): void {
		const { id, content, status, role } = message;
		const shown = this.messages.get(id);
		// Of a reply that was interrupted twice, only what is stored remains. A reply that was written again may have failed again.
		// A reply that a fault of the disk has interrupted, and a takeover ended before it was resumed, has lost its text.
		const mayHaveLostText = status === 'failed' || (status === 'stopped' && this.#hasFaults());
		if (shown?.isOpen && !shown.wasInterrupted && !mayHaveLostText) {
			require(content.startsWith(shown.text), () => `the text of ${id} was ${shown.text}, and is ${content}`);
			const isWhole = status !== 'completed' || content === shown.text;
			require(isWhole, () => `deltas of the completed ${id} are missing: ${shown.text} of ${content}`);
		}
		require(status !== 'in_progress', () => `${event} shows ${id} in progress`);
		require((event === 'message.failed') === (status === 'failed'), () => `${event} has the status ${status}`);
		this.messages.set(id, { text: content, status, role, isOpen: false, wasInterrupted: false });
	}

	#showCall(
		event: string,
		{ message_id, tool_call }: { message_id: string; tool_call: { id: string; status: string } },
	): void {
		require(this.messages.get(message_id)?.isOpen === true, () => `a call of ${message_id} comes while it is not open`);
		const calls = this.calls.get(message_id) ?? new Map<string, string>();
		this.calls.set(message_id, calls);
		const former = calls.get(tool_call.id);
		const expected = event === 'tool.started' ? undefined : 'running';
		const mayBeUnknown = former === undefined && message_id === this.#joinedMessage;
		require(former === expected || mayBeUnknown, () => `${event} of ${tool_call.id} follows ${former}`);
		calls.set(tool_call.id, tool_call.status);
	}
}

function comparePositions(one: string, other: string): number {
	const [seq = 0, offset = 0] = one.split('.').map(Number);
	const [otherSeq = 0, otherOffset = 0] = other.split('.').map(Number);
	return seq - otherSeq || offset - otherOffset;
}
