import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError, type Clock } from '../base/index.ts';
import {
	decideAndCommit,
	type EventsReader,
	expectVersion,
	type IdempotencyRecord,
	type Store,
	type StoredEvent,
	type WebhookRecord,
} from '../store/index.ts';

/** Events that are made due in one commit. */
const BATCH_SIZE = 200;

export interface ReplayDependencies {
	store: Pick<Store, 'commit'> & { events: Pick<EventsReader, 'after' | 'range'> };
	clock: Clock;
	/** Is told after each portion. */
	wake(webhookId: string): void;
}

/** Which events are to be delivered again, and where to. */
export interface Replay {
	/** The endpoint as it is now. @throws AppError `not_found`, once it is deleted */
	endpoint(): Promise<WebhookRecord>;
	/** Milliseconds since the epoch, both included. */
	since: number;
	until: number;
	/** Goes into the commit of the last portion. */
	receipt(replayed: number): IdempotencyRecord | undefined;
}

/**
 * Makes all events of a time due anew at an endpoint, in portions: what a crash leaves out, the same request makes due
 * again, and what waits already waits once.
 * @returns how many
 * @throws AppError `not_found`, `webhook_disabled`
 */
export async function replayEvents(
	{ store, clock, wake }: ReplayDependencies,
	{ endpoint, since, until, receipt }: Replay,
): Promise<number> {
	const range = await store.events.range(since, until);
	// The log is in order of commit, and that is not the order of time where clocks are set back.
	const isInRange = ({ created_at }: StoredEvent) => created_at >= since && created_at <= until;
	let replayed = 0;
	let after = (range?.first ?? 1) - 1;
	for (;;) {
		const batch = await decideAndCommit(store, async () => {
			const webhook = await endpoint();
			requireActive(webhook);
			const types = webhook.events.includes('*') ? [] : webhook.events;
			const page = range ? await store.events.after(webhook.workspace_id, after, BATCH_SIZE, types) : [];
			const last = page.at(-1)?.seq ?? after;
			const isLast = range === null || page.length < BATCH_SIZE || last >= range.last;
			const seqs = page.filter((event) => event.seq <= (range?.last ?? 0) && isInRange(event)).map(({ seq }) => seq);
			const result = { id: webhook.id, last, isLast, count: seqs.length };
			const idempotency = isLast ? receipt(replayed + seqs.length) : undefined;
			if (seqs.length === 0 && !idempotency) return { commit: null, result };
			return {
				commit: {
					// Disabled meanwhile, it gets no more.
					expect: [expectVersion('webhooks', webhook)],
					write: [{ op: 'redeliver', webhook_id: webhook.id, seqs, at: clock.now() }],
					...(idempotency ? { idempotency } : {}),
				},
				result,
			};
		});
		replayed += batch.count;
		after = batch.last;
		if (batch.count > 0) wake(batch.id);
		if (batch.isLast) return replayed;
		// Where nothing was to be done there was no commit to wait for, either.
		await yieldToEventLoop();
	}
}

/** @throws AppError `webhook_disabled` */
export function requireActive({ status }: Pick<WebhookRecord, 'status'>): void {
	if (status !== 'active') throw new AppError('webhook_disabled');
}
