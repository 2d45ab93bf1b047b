import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError, type Clock } from '../base/index.ts';
import {
	type EventsReader,
	expectVersion,
	prepareChange,
	type Store,
	type StoredEvent,
	type UncommittedChange,
	type WebhookRecord,
} from '../store/index.ts';

/** Events made due in one commit. */
const BATCH_SIZE = 200;

/** What a replay needs. */
export interface ReplayDependencies {
	store: Pick<Store, 'commit'> & { events: Pick<EventsReader, 'after' | 'range'> };
	clock: Clock;
	/** Called after each batch. */
	wake(webhookId: string): void;
}

/** The first and last commit sequence of the events; null where there are none. */
type EventRange = Awaited<ReturnType<EventsReader['range']>>;

/** The events to deliver again, and their endpoint. */
export interface Replay {
	/** The current endpoint. @throws AppError `not_found` once it is deleted */
	endpoint(): Promise<WebhookRecord>;
	/** Milliseconds since the epoch, both inclusive. */
	since: number;
	until: number;
}

/**
 * Makes all events of a time range due again at an endpoint, in batches; the result is their number. After a crash the same
 * request completes the rest. Deliveries that are already pending stay as they are.
 * @throws AppError `not_found`, `webhook_disabled`
 */
export function replayEvents(
	{ store, clock, wake }: ReplayDependencies,
	{ endpoint, since, until }: Replay,
): UncommittedChange<number> {
	// The log is in commit order, which differs from the order of times when the clock was set back.
	const isInRange = ({ created_at }: StoredEvent) => created_at >= since && created_at <= until;
	/** Makes the next events due, from after a position (commit sequence). */
	const batchAfter = (after: number, range: EventRange, isContinued: boolean) =>
		prepareChange(store, async () => {
			const webhook = await endpoint();
			requireActive(webhook);
			const types = webhook.events.includes('*') ? [] : webhook.events;
			const page = range ? await store.events.after(webhook.workspace_id, after, BATCH_SIZE, types) : [];
			const last = page.at(-1)?.seq ?? after;
			const isLast = range === null || page.length < BATCH_SIZE || last >= range.last;
			const seqs = page.filter((event) => event.seq <= (range?.last ?? 0) && isInRange(event)).map(({ seq }) => seq);
			const result = { id: webhook.id, last, isLast, count: seqs.length };
			// An end without events of its own commits the addition of the request that made earlier ones due.
			if (seqs.length === 0) return { commit: isLast && isContinued ? {} : null, result };
			return {
				commit: {
					// An endpoint that was disabled meanwhile gets no more events.
					expect: [expectVersion('webhooks', webhook)],
					write: [{ op: 'redeliver', webhook_id: webhook.id, seqs, at: clock.now() }],
				},
				result,
			};
		});

	return {
		async commit(addition) {
			const range = await store.events.range(since, until);
			let replayed = 0;
			let after = (range?.first ?? 1) - 1;
			for (;;) {
				// The addition belongs to the last batch: until then a repeat continues the replay.
				const batch = await batchAfter(after, range, replayed > 0).commit(({ isLast, count }) =>
					isLast ? (addition?.(replayed + count) ?? {}) : {},
				);
				replayed += batch.count;
				after = batch.last;
				if (batch.count > 0) wake(batch.id);
				if (batch.isLast) return replayed;
				// Without a commit nothing has yielded to the event loop yet.
				await yieldToEventLoop();
			}
		},
	};
}

/** @throws AppError `webhook_disabled` */
export function requireActive({ status }: Pick<WebhookRecord, 'status'>): void {
	if (status !== 'active') throw new AppError('webhook_disabled');
}
