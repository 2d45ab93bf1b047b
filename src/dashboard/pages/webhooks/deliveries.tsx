import { useState } from 'preact/hooks';
import { api, resultOf } from '../../api/client.ts';
import { useLiveQueries } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { FilterChips, FilterSelect, Filters, filterValue } from '../../components/filters.tsx';
import { EmptyState } from '../../components/page.tsx';
import { PagedContent } from '../../components/paged-content.tsx';
import { Status } from '../../components/status.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { strings } from '../../languages/index.ts';
import type { Delivery, DeliveryStatus, Webhook, WebhookEvent } from './queries.ts';
import { ReplayForm } from './replay.tsx';

const PAGE_SIZE = 50;

const TONES = { pending: 'amber', delivered: 'green', failed: 'red', cancelled: 'grey' } as const;

/** The deliveries of a webhook, newest first, with filters in the address. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
	const s = strings();
	const t = s.webhookPages;
	const [isReplaying, setReplaying] = useState(false);
	const statuses = (['pending', 'delivered', 'failed', 'cancelled'] as const).map((value) => ({
		value,
		label: statusText(value),
	}));
	const events = Object.keys(s.eventNames) as Delivery['event_type'][];
	const types = events.map((value) => ({ value, label: value }));
	const status = filterValue('status', statuses);
	const event_type = filterValue('type', types);
	const list = usePages<Delivery>(['webhooks', 'deliveries', webhook.id, status, event_type], (cursor, signal) => {
		const query = {
			limit: PAGE_SIZE,
			...(status && { status }),
			...(event_type && { event_type }),
			...(cursor && { cursor }),
		};
		return resultOf(
			api.GET('/api/v1/webhooks/{id}/deliveries', { params: { path: { id: webhook.id }, query }, signal }),
		);
	});
	// A new delivery is reported by its event, and each attempt by a notice.
	useLiveQueries([...events, 'webhook_delivery.updated'], ['webhooks', 'deliveries', webhook.id], ({ type, data }) =>
		type === 'webhook_delivery.updated' ? data.webhook_id === webhook.id : isDelivered(webhook, type),
	);
	return (
		<>
			<div class="list-bar">
				<Filters>
					<FilterChips name="status" label={t.filterStatus} options={statuses} />
					<FilterSelect name="type" label={t.filterEvent} options={types} />
				</Filters>
				<div class="actions">
					<Button icon="retry" isBusy={list.isLoading} onClick={list.reload}>
						{s.parts.refresh}
					</Button>
					{may('webhooks:write') && (
						<Button disabled={webhook.status === 'disabled'} onClick={() => setReplaying(!isReplaying)}>
							{t.replay}
						</Button>
					)}
				</div>
			</div>
			{isReplaying && <ReplayForm webhook={webhook} onClose={() => setReplaying(false)} />}
			<PagedContent list={list}>
				{(deliveries) => {
					if (deliveries.length > 0) return <DeliveryTable deliveries={deliveries} />;
					const isFiltered = status !== undefined || event_type !== undefined;
					if (isFiltered) return <EmptyState title={t.noneMatch} text={t.noneMatchText} />;
					return <EmptyState title={t.noDeliveries} text={t.noDeliveriesText} />;
				}}
			</PagedContent>
		</>
	);
}

function isDelivered({ events }: Webhook, type: WebhookEvent): boolean {
	return events.includes('*') || events.includes(type);
}

function DeliveryTable({ deliveries }: { deliveries: readonly Delivery[] }) {
	const t = strings().webhookPages;
	const pathOf = ({ webhook_id, id }: Delivery) => ['webhooks', webhook_id, id];
	return (
		<Table
			label={t.deliveries}
			rows={deliveries}
			pathOf={pathOf}
			columns={[
				{ title: t.event, cell: (delivery) => <a href={linkTo(pathOf(delivery))}>{delivery.event_type}</a> },
				{ title: t.status, cell: ({ status }) => <DeliveryState status={status} /> },
				{ title: t.attempts, cell: ({ attempts }) => attempts, isNumber: true, isMinor: true },
				{ title: t.answer, cell: ({ status_code, error }) => status_code ?? error ?? '–', isMinor: true },
				{ title: t.created, cell: ({ created_at }) => <RelativeTime at={created_at} /> },
			]}
		/>
	);
}

export function DeliveryState({ status }: { status: DeliveryStatus }) {
	return <Status tone={TONES[status]}>{statusText(status)}</Status>;
}

function statusText(status: DeliveryStatus): string {
	const t = strings().webhookPages;
	return {
		pending: t.statusPending,
		delivered: t.statusDelivered,
		failed: t.statusFailed,
		cancelled: t.statusCancelled,
	}[status];
}
