import { HINT_TOPICS, type Hints, type HintTopic } from '../hints.ts';
import type { Notifications } from './notifications.ts';

const CHANNEL = 'parley_hints';
/** PostgreSQL takes 8,000 bytes, with the id of the node. Ids are ASCII. */
const MAX_TEXT = 7_800;
const TOPICS: ReadonlySet<string> = new Set(HINT_TOPICS);
/** Ids of a topic that wait. More are dropped. */
const MAX_WAITING = 2_000;
/** A node says what it listens to at this interval, and counts as listening for three of them (ms). */
const ANNOUNCE_MS = 10_000;
const LISTENING_MS = 3 * ANNOUNCE_MS;

/** Ids of a topic, or the topics to which the sender listens. */
type Message = { topic: HintTopic; ids: string[] } | { listens: HintTopic[] };

/** Hints as notifications of PostgreSQL. They are sent outside of commits, which would wait for one another otherwise. */
export class PostgresHints implements Hints, Disposable {
	readonly #notifications: Notifications;
	readonly #listeners = new Map<HintTopic, Set<(ids: readonly string[]) => void>>();
	/** When another node has last said that it listens, in monotonic time. */
	readonly #heard = new Map<HintTopic, number>();
	readonly #timer: NodeJS.Timeout;
	#waiting = new Map<HintTopic, Set<string>>();
	#isAnnouncementDue = false;
	#isSending = false;

	constructor(notifications: Notifications) {
		this.#notifications = notifications;
		notifications.on(CHANNEL, (text) => this.#receive(text));
		this.#timer = setInterval(() => this.#announce(), ANNOUNCE_MS);
		this.#timer.unref();
	}

	publish(topic: HintTopic, ids: Iterable<string>): void {
		if (!this.isListenedTo(topic)) return;
		const waiting = this.#waiting.get(topic) ?? new Set();
		for (const id of ids) if (waiting.size < MAX_WAITING) waiting.add(id);
		if (waiting.size === 0) return;
		this.#waiting.set(topic, waiting);
		this.#sendSoon();
	}

	subscribe(topic: HintTopic, listener: (ids: readonly string[]) => void): () => void {
		const listeners = this.#listeners.get(topic) ?? new Set();
		this.#listeners.set(topic, listeners.add(listener));
		if (listeners.size === 1) this.#announce();
		return () => {
			listeners.delete(listener);
			if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
		};
	}

	/** Until every node must have said to what it listens, each may listen to anything. */
	isListenedTo(topic: HintTopic): boolean {
		const heardAt = this.#heard.get(topic) ?? Number.NEGATIVE_INFINITY;
		return performance.now() - heardAt < LISTENING_MS || this.#notifications.connectedMs < LISTENING_MS;
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	#announce(): void {
		if (this.#listeners.size === 0) return;
		this.#isAnnouncementDue = true;
		this.#sendSoon();
	}

	#sendSoon(): void {
		if (this.#isSending) return;
		this.#isSending = true;
		setImmediate(() => void this.#send());
	}

	async #send(): Promise<void> {
		const texts = this.#isAnnouncementDue ? [encode({ listens: [...this.#listeners.keys()] })] : [];
		for (const [topic, ids] of this.#waiting) texts.push(...encodeIds(topic, [...ids]));
		this.#isAnnouncementDue = false;
		this.#waiting = new Map();
		try {
			await this.#notifications.send(CHANNEL, texts);
		} catch {
			// They are lost.
		} finally {
			this.#isSending = false;
			if (this.#isAnnouncementDue || this.#waiting.size > 0) this.#sendSoon();
		}
	}

	#receive(text: string): void {
		const message = messageOf(text);
		if (message === null) return;
		if ('listens' in message) {
			for (const topic of message.listens) if (TOPICS.has(topic)) this.#heard.set(topic, performance.now());
			return;
		}
		for (const listener of this.#listeners.get(message.topic) ?? []) listener(message.ids);
	}
}

/** Another program, or another version of this one, may send anything on the channel: null for what is no message. */
function messageOf(text: string): Message | null {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	if (typeof value !== 'object' || value === null) return null;
	const { listens, topic, ids } = value as { listens?: unknown; topic?: unknown; ids?: unknown };
	if (isTexts(listens)) return { listens: listens as HintTopic[] };
	return typeof topic === 'string' && isTexts(ids) ? { topic: topic as HintTopic, ids } : null;
}

function isTexts(value: unknown): value is string[] {
	return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function encode(message: Message): string {
	return JSON.stringify(message);
}

/** As many messages as the ids need. */
function encodeIds(topic: HintTopic, ids: string[]): string[] {
	const text = encode({ topic, ids });
	if (text.length <= MAX_TEXT || ids.length === 1) return text.length <= MAX_TEXT ? [text] : [];
	const half = ids.length >> 1;
	return [...encodeIds(topic, ids.slice(0, half)), ...encodeIds(topic, ids.slice(half))];
}
