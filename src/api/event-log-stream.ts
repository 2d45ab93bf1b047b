import { encodeSingleLines, type PullSource, type SourceReader } from '../base/index.ts';
import type { EventType } from '../contract/index.ts';
import type { EncodableEvent } from '../http/index.ts';
import type { Notice, PositionedUpdate } from '../outbox/index.ts';
import type { StoredEvent } from '../store/index.ts';
import { presentEvent } from '../webhooks/index.ts';

/** How one client sees the event log of its workspace. */
export interface EventLogView {
	/** The types that it asked for; empty: all. */
	types: readonly EventType[];
	/** The position from which the stream starts. */
	start: string;
	/** The position after an event. */
	positionAfter(event: StoredEvent): string;
	/** What it gets beside the log; null: nothing. */
	notices: PullSource<Notice> | null;
	isNoticeWanted(notice: Notice): boolean;
}

/**
 * The event log of a workspace as server-sent events. The first one has only an id, so that a client that loses its connection
 * before the first event resumes without a gap. Notices have no id: they do not move the client's position.
 */
export class EventLogStream implements PullSource<EncodableEvent> {
	readonly #updates: PullSource<PositionedUpdate>;
	readonly #view: EventLogView;
	#hasStarted = false;

	constructor(updates: PullSource<PositionedUpdate>, view: EventLogView) {
		this.#updates = updates;
		this.#view = view;
	}

	get isEnded(): boolean {
		return this.#updates.isEnded;
	}

	open(reader: SourceReader): void {
		this.#view.notices?.open(reader);
		this.#updates.open(reader);
	}

	read(): EncodableEvent | null {
		if (!this.#hasStarted) {
			this.#hasStarted = true;
			return positionOnly(this.#view.start);
		}
		return this.#readLog() ?? this.#readNotice();
	}

	close(): void | Promise<void> {
		void this.#view.notices?.close();
		return this.#updates.close();
	}

	#readLog(): EncodableEvent | null {
		for (;;) {
			const update = this.#updates.read();
			if (update === null) return null;
			if (update.kind === 'event' && this.#isWanted(update.event)) return this.#encode(update.event);
		}
	}

	#readNotice(): EncodableEvent | null {
		for (;;) {
			const notice = this.#view.notices?.read() ?? null;
			if (notice === null) return null;
			if (!this.#view.isNoticeWanted(notice)) continue;
			const { type, data } = notice;
			const event = { event: type, data: JSON.stringify({ type, data }) };
			return { ...event, encoded: encodeSingleLines(event) };
		}
	}

	#isWanted({ type }: StoredEvent): boolean {
		const { types } = this.#view;
		return types.length === 0 || types.some((wanted) => wanted === type);
	}

	#encode(stored: StoredEvent): EncodableEvent {
		const event = {
			id: this.#view.positionAfter(stored),
			event: stored.type,
			data: JSON.stringify(presentEvent(stored)),
		};
		return { ...event, encoded: encodeSingleLines(event) };
	}
}

/** Clients keep the id of a server-sent event without data, and report no event (WHATWG HTML, section 9.2.6). */
function positionOnly(id: string): EncodableEvent {
	return { id, event: '', data: '', encoded: `id: ${id}\n\n` };
}
