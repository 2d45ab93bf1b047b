import type { StreamPosition } from './position.ts';
import type { StreamEvent, Topic } from './topic.ts';

/** Events that are cached while a text is open: a subscriber that joins at its beginning need not read the log. */
const RECENT_EVENTS = 32;

/** Caches an event of a stream with an open text, with the events that were committed with the opening event. */
export function recordRecentEvent(topic: Topic, event: StreamEvent, committed: readonly StreamEvent[]): void {
	if (topic.recent) {
		topic.recent.events.push(event);
		if (topic.recent.events.length > RECENT_EVENTS) topic.recent = null;
	} else if (event.data?.text === 'opens') {
		const before = committed.filter(({ stream, seq }) => stream === event.stream && seq <= event.seq);
		topic.recent = { after: (before[0] as StreamEvent).seq - 1, events: before };
	}
}

/**
 * The events of a stream after the earlier of two positions, if they are cached. A position after the last cached event is
 * that of an event that is on disk and was not published yet.
 */
export function recentEventsSince(
	{ recent }: Topic,
	{ seq }: StreamPosition,
	textOpenedAt: number,
): StreamEvent[] | null {
	const start = Math.min(seq, textOpenedAt);
	const last = recent?.events.at(-1)?.seq ?? 0;
	if (recent === null || start < recent.after || seq > last) return null;
	return recent.events.filter((event) => event.seq > start);
}
