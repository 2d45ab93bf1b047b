import { ID_PREFIXES, type Log, SpacedTask } from '../../base/index.ts';
import type { StoredEvent } from '../commit.ts';
import type { ShardFence } from '../placement.ts';
import type { EventsListener } from '../store.ts';
import type { Notifications } from './notifications.ts';
import type { Sql } from './sql.ts';

/** Between two looks at the log where no hint comes (ms). */
const POLL_MS = 500;
/** Looks at the log, and hints, are at least so far apart (ms): with several busy nodes each commit would cause both. */
const MIN_INTERVAL_MS = 20;
const PAGE_SIZE = 500;
const CHANNEL = 'parley_log';

/**
 * Publishes the events of all nodes. Events of a conversation come from its owner only, so this node publishes its own at once, and no
 * others. Events of a workspace come from several nodes: they are published in the order of the log, so that a reader which goes on from
 * the last number it has seen misses none. A notification is a hint that the log has grown; without it the log is read every half second.
 */
export class LogFollower {
	readonly #sql: Sql;
	readonly #log: Log;
	readonly #publish: EventsListener;
	readonly #timer: NodeJS.Timeout;
	/** All events of workspaces up to this number were published. */
	#position: number;
	readonly #looks: SpacedTask;
	readonly #hints: SpacedTask;
	#isClosed = false;

	/** @param options.sql of connections with a short time limit */
	constructor(options: {
		sql: Sql;
		log: Log;
		notifications: Notifications;
		position: number;
		publish: EventsListener;
	}) {
		this.#sql = options.sql;
		this.#log = options.log;
		this.#position = options.position;
		this.#publish = options.publish;
		this.#looks = new SpacedTask(MIN_INTERVAL_MS, () => this.#readLog());
		// A hint that is lost is not missed.
		this.#hints = new SpacedTask(MIN_INTERVAL_MS, () => options.notifications.send(CHANNEL, ['']).catch(() => {}));
		this.#timer = setInterval(() => this.#looks.request(), POLL_MS);
		this.#timer.unref();
		options.notifications.on(CHANNEL, () => this.#looks.request());
	}

	/** This node has committed events, in the order of their numbers. */
	onCommitted(events: StoredEvent[], fence: ShardFence | undefined): void {
		const [first] = events;
		if (first === undefined) return;
		this.#hints.request();
		if (first.seq === this.#position + 1) {
			this.#position = (events.at(-1) as StoredEvent).seq;
			this.#publish(events, fence);
			return;
		}
		const ofConversations = events.filter(isOfConversation);
		if (ofConversations.length > 0) this.#publish(ofConversations, fence);
		this.#looks.request();
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearInterval(this.#timer);
		// A hint is sent on a connection that may not answer for long.
		void this.#hints[Symbol.asyncDispose]();
		await this.#looks[Symbol.asyncDispose]();
	}

	async #readLog(): Promise<void> {
		try {
			for (let isFull = true; isFull && !this.#isClosed; ) {
				const { end, page } = await this.#readPage();
				if (this.#isClosed) return;
				isFull = page.length === PAGE_SIZE;
				// Own events may have been published meanwhile.
				const rows = page.filter(({ seq }) => seq > this.#position);
				this.#position = Math.max(this.#position, isFull ? (page.at(-1)?.seq ?? 0) : end);
				const published = rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
				if (published.length > 0) this.#publish(published, undefined);
			}
		} catch (err) {
			// The position stays: the next look at the log finds what this one has missed.
			if (!this.#isClosed) this.#log.warn({ err }, 'the log of events could not be read');
		}
	}

	/** The end of the log, and the next events of workspaces up to it. */
	async #readPage(): Promise<{ end: number; page: Array<StoredEvent & { data: string }> }> {
		const end = (await this.#sql.get<{ seq: number }>('SELECT seq FROM log_end'))?.seq ?? 0;
		const page = await this.#sql.all<StoredEvent & { data: string }>(
			`SELECT seq, id, stream, type, data, subject, created_at FROM events
			 WHERE seq > @position AND seq <= @end AND stream LIKE 'ws\\_%' ORDER BY seq LIMIT @limit`,
			{ position: this.#position, end, limit: PAGE_SIZE },
		);
		return { end, page };
	}
}

function isOfConversation({ stream }: StoredEvent): boolean {
	return stream.startsWith(ID_PREFIXES.conversation);
}
