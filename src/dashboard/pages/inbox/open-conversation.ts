import { ApiError } from '../../api/api-error.ts';
import { api, BASE_URL, resultOf } from '../../api/client.ts';
import { delayAfter } from '../../api/event-connection.ts';
import type { ReplyEvent } from '../../api/message-stream.ts';
import { reloadNotes } from './notes.tsx';
import type { PresentPerson } from './presence.tsx';
import type { Message } from './queries.ts';

const PAGE_SIZE = 50;
const EVENTS = [
	'message.created',
	'message.delta',
	'tool.started',
	'tool.completed',
	'message.completed',
	'message.failed',
	'message.reset',
] as const satisfies readonly ReplyEvent['type'][];

/**
 * The messages of a conversation while it is open. It follows the conversation first and loads the latest messages then, so that
 * nothing is missed between the two. The browser resumes the stream after an interruption. Where the server, or a proxy before it, has
 * refused the stream, another one is opened later and the messages are loaded again.
 */
export class OpenConversation {
	messages: readonly Message[] = [];
	isLoaded = false;
	error: Error | null = null;
	isConnected = true;
	/** Who looks at the conversation or types in it, this person too. */
	people: readonly PresentPerson[] = [];
	/** For messages from before the first loaded message; null: there are none. */
	earlierCursor: string | null = null;
	readonly #id: string;
	readonly #onChange: () => void;
	#stream: EventSource | null = null;
	/** The messages are loaded once the stream is open: a new stream does not have what was missed. */
	#mustLoad = true;
	#failures = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(id: string, onChange: () => void) {
		this.#id = id;
		this.#onChange = onChange;
	}

	open(): void {
		const stream = new EventSource(new URL(`api/v1/conversations/${this.#id}/events`, BASE_URL));
		this.#stream = stream;
		for (const name of EVENTS) {
			stream.addEventListener(name, ({ data }: MessageEvent<string>) => this.#apply(JSON.parse(data) as ReplyEvent));
		}
		for (const name of ['note.created', 'note.deleted']) stream.addEventListener(name, () => reloadNotes(this.#id));
		stream.addEventListener('presence', ({ data }: MessageEvent<string>) => {
			this.people = (JSON.parse(data) as { people: PresentPerson[] }).people;
			this.#onChange();
		});
		stream.addEventListener('open', () => {
			this.isConnected = true;
			this.#failures = 0;
			if (this.#mustLoad) void this.#loadLatest();
			this.#onChange();
		});
		stream.addEventListener('error', () => {
			this.isConnected = false;
			if (stream.readyState === EventSource.CLOSED) void this.#openAgainLater(stream);
			this.#onChange();
		});
	}

	/** Loads messages from before the first one, once at a time. @throws ApiError, TypeError */
	async loadEarlier(): Promise<void> {
		const cursor = this.earlierCursor;
		if (cursor === null) return;
		this.earlierCursor = null;
		this.#onChange();
		try {
			const page = await this.#load(cursor);
			this.earlierCursor = page.next_cursor;
			this.messages = [...page.data.reverse(), ...this.messages];
		} catch (error) {
			this.earlierCursor = cursor;
			throw error;
		} finally {
			this.#onChange();
		}
	}

	retry(): void {
		this.leave();
		this.#mustLoad = true;
		this.error = null;
		this.open();
		this.#onChange();
	}

	/** Shows a message that was sent here, before its event arrives. */
	add(message: Message): void {
		this.#put(message);
		this.#onChange();
	}

	leave(): void {
		clearTimeout(this.#timer);
		this.#stream?.close();
		this.#stream = null;
	}

	/** The stream was refused. The request for the messages says why: without the right to read them, it is not opened again. */
	async #openAgainLater(refused: EventSource): Promise<void> {
		await this.#loadLatest();
		const isFinal = this.error instanceof ApiError && [401, 403, 404].includes(this.error.status);
		if (isFinal || this.#stream !== refused) return;
		this.#mustLoad = true;
		this.#timer = setTimeout(() => this.open(), delayAfter(this.#failures++));
	}

	async #loadLatest(): Promise<void> {
		try {
			const { data, next_cursor } = await this.#load(null);
			// An event may have brought a later state of a message than the page.
			const newer = new Map(this.messages.map((message) => [message.id, message]));
			const loaded = data.reverse().map((message) => {
				const other = newer.get(message.id);
				newer.delete(message.id);
				return other && message.status === 'in_progress' ? other : message;
			});
			// Earlier pages that were shown are loaded again from the cursor.
			const last = loaded.at(-1)?.created_at ?? '';
			this.messages = [...loaded, ...[...newer.values()].filter(({ created_at }) => created_at >= last)];
			this.earlierCursor = next_cursor;
			this.isLoaded = true;
			this.#mustLoad = false;
			this.error = null;
		} catch (error) {
			this.error = error as Error;
		}
		this.#onChange();
	}

	#load(cursor: string | null) {
		const query = { order: 'desc' as const, limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
		const params = { path: { id: this.#id }, query };
		return resultOf(api.GET('/api/v1/conversations/{id}/messages', { params }));
	}

	#apply(event: ReplyEvent): void {
		switch (event.type) {
			case 'message.created':
			case 'message.completed':
			case 'message.failed':
				this.#put(event.message);
				break;
			case 'message.delta':
				this.#change(event.message_id, ({ content }) => ({ content: content.slice(0, event.index) + event.delta }));
				break;
			case 'message.reset':
				this.#change(event.message_id, () => ({ content: '', tool_calls: [] }));
				break;
			case 'tool.started':
			case 'tool.completed':
				this.#change(event.message_id, ({ tool_calls }) => ({
					tool_calls: [...tool_calls.filter(({ id }) => id !== event.tool_call.id), event.tool_call],
				}));
		}
		this.#onChange();
	}

	#put(message: Message): void {
		const isKnown = this.messages.some(({ id }) => id === message.id);
		this.messages = isKnown
			? this.messages.map((other) => (other.id === message.id ? message : other))
			: [...this.messages, message];
	}

	#change(id: string, changeOf: (message: Message) => Partial<Message>): void {
		this.messages = this.messages.map((message) =>
			message.id === id ? { ...message, ...changeOf(message) } : message,
		);
	}
}
