import { timestamp } from '../base/index.ts';
import type { Event } from '../contract/index.ts';
import type { NewEvent } from '../store/index.ts';

/** The public part of an event. */
type PublicEvent = Pick<NewEvent, 'id' | 'type' | 'data' | 'created_at'>;

/** An event of a workspace as the event log and deliveries show it. */
export function presentEvent({ id, type, data, created_at }: PublicEvent): Event {
	return { id, type: type as Event['type'], created_at: timestamp(created_at), data: data as Event['data'] };
}

/** The body of a delivery. It is the same for every attempt of a stored event, so that all are signed alike. */
export function renderEvent(event: PublicEvent): string {
	return JSON.stringify(presentEvent(event));
}
