import { AppError, type Clock, timestamp } from '../base/index.ts';
import type { DeliveryAttempt, Operations } from '../contract/index.ts';
import {
	type DeliveryAttemptRecord,
	type DeliveryRecord,
	expectVersion,
	prepareChange,
	type Store,
} from '../store/index.ts';
import {
	type Deliverer,
	presentDelivery,
	presentEvent,
	replayEvents,
	requireActive,
	retryPatch,
} from '../webhooks/index.ts';
import type { Handler } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';
import { findWebhook } from './webhooks.ts';

type DeliveryOperation = 'listDeliveries' | 'getDelivery' | 'retryDelivery' | 'replayWebhook';

export interface DeliveryHandlersOptions {
	store: Store;
	cursors: Cursors;
	clock: Clock;
	deliverer: Pick<Deliverer, 'wake'>;
}

/** Attempts that are shown of one delivery: more than its schedule has, because retries by hand are not limited. */
const MAX_LISTED_ATTEMPTS = 200;

/** Deliveries to webhook endpoints: list, read, retry. */
export function deliveryHandlers({ store, cursors, clock, deliverer }: DeliveryHandlersOptions): {
	[K in DeliveryOperation]: Handler<Operations[K]>;
} {
	const find = async (webhookId: string, id: string): Promise<DeliveryRecord> => {
		const record = await store.get('deliveries', id);
		if (record?.webhook_id !== webhookId) throw deliveryNotFound();
		return record;
	};

	return {
		async listDeliveries({ caller, params, query }) {
			const { id } = await findWebhook(store, caller.workspaceId, params.id);
			const { status, event_type } = query;
			const list = `deliveries ${id} ${status ?? ''} ${event_type ?? ''}`;
			const page = cursors.read(list, query);
			const records = await store.list('deliveries', {
				...page,
				limit: page.limit + 1,
				where: { webhook_id: id, status, event_type },
			});
			return cursors.page(list, page, records, byCreation, presentDelivery);
		},

		async getDelivery({ caller, params }) {
			const { id } = await findWebhook(store, caller.workspaceId, params.id);
			const record = await find(id, params.delivery_id);
			const where = { delivery_id: record.id };
			const [event, attempts] = await Promise.all([
				store.events.at(record.event_seq),
				store.list('delivery_attempts', { where, order: 'desc', limit: MAX_LISTED_ATTEMPTS }),
			]);
			// Event and delivery are erased together.
			if (!event) throw deliveryNotFound();
			return {
				...presentDelivery(record),
				attempt_log: attempts.reverse().map(presentAttempt),
				event: presentEvent(event),
			};
		},

		async retryDelivery({ caller, params, commit }) {
			const change = prepareChange(store, async () => {
				const webhook = await findWebhook(store, caller.workspaceId, params.id);
				const record = await find(webhook.id, params.delivery_id);
				requireActive(webhook);
				const now = clock.now();
				// It precedes deliveries that wait in the order of the log.
				const set =
					record.status === 'pending' ? { due_at: now, updated_at: now } : { ...retryPatch(now), due_at: now };
				return {
					commit: {
						expect: [expectVersion('webhooks', webhook), expectVersion('deliveries', record)],
						write: [{ op: 'patch', kind: 'deliveries', id: record.id, set }],
					},
					result: { ...record, ...set },
				};
			});
			const delivery = await commit(change, presentDelivery);
			deliverer.wake(delivery.webhook_id);
			return delivery;
		},

		async replayWebhook({ caller, params, body, commit }) {
			const since = Date.parse(body.since);
			const until = body.until === undefined ? Math.max(clock.now(), since) : Date.parse(body.until);
			if (since > until) {
				const message = 'must not be later than until';
				throw new AppError('invalid_request', `/since ${message}.`, { details: [{ path: '/since', message }] });
			}
			const replay = replayEvents(
				{ store, clock, wake: (id) => deliverer.wake(id) },
				{ endpoint: () => findWebhook(store, caller.workspaceId, params.id), since, until },
			);
			return commit(replay, (replayed) => ({ replayed }));
		},
	};
}

function deliveryNotFound(): AppError {
	return new AppError('not_found', 'The delivery does not exist.');
}

function presentAttempt(record: DeliveryAttemptRecord): DeliveryAttempt {
	const { number, status_code, duration_ms, error, answer } = record;
	return { number, at: timestamp(record.created_at), status_code, duration_ms, error, answer };
}
