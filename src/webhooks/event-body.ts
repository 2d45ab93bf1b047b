import { timestamp } from '../base/index.ts';
import type { Event } from '../contract/index.ts';
import type { NewEvent } from '../store/index.ts';

/** What of an event is told outside. */
type PublicEvent = Pick<NewEvent, 'id' | 'type' | 'data' | 'created_at'>;

/** An event of a workspace as it is shown, in the log and in deliveries. */
export function presentEvent({ id, type, data, created_at }: PublicEvent): Event {
	return { id, type: type as Event['type'], created_at: timestamp(created_at), data: data as Event['data'] };
}

/** The bytes of a delivery: of one stored event always the same, so that repeats are signed alike. */
export function renderEvent(event: PublicEvent): string {
	return JSON.stringify(presentEvent(event));
}
