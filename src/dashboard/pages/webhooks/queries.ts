import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type Webhook = Resource<'Webhook'>;
export type Delivery = Resource<'Delivery'>;
export type DeliveryDetail = Resource<'DeliveryDetail'>;
export type DeliveryStatus = Delivery['status'];
export type WebhookEvent = Webhook['events'][number];

/** More than a workspace can have. */
const LIST_LIMIT = 100;

export function webhookList(): QueryObserverOptions<Webhook[]> {
	return {
		queryKey: ['webhooks', 'list'],
		queryFn: async ({ signal }) => {
			const query = { limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/webhooks', { params: { query }, signal }))).data;
		},
	};
}

export function webhookById(id: string): QueryObserverOptions<Versioned<Webhook>> {
	return {
		queryKey: ['webhooks', 'one', id],
		queryFn: ({ signal }) => versionedResultOf(api.GET('/api/v1/webhooks/{id}', { params: { path: { id } }, signal })),
	};
}

export function deliveryById(id: string, delivery_id: string): QueryObserverOptions<DeliveryDetail> {
	return {
		queryKey: ['webhooks', 'deliveries', id, 'one', delivery_id],
		queryFn: ({ signal }) =>
			resultOf(
				api.GET('/api/v1/webhooks/{id}/deliveries/{delivery_id}', { params: { path: { id, delivery_id } }, signal }),
			),
	};
}

/** Shows another version of a webhook everywhere. */
export function keepWebhook(webhook: Versioned<Webhook>): void {
	queryClient.setQueryData(webhookById(webhook.value.id).queryKey, webhook);
	void invalidate('webhooks', 'list');
}
