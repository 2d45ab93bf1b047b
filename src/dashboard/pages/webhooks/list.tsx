import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { ButtonLink } from '../../components/button.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { count, strings } from '../../languages/index.ts';
import { type Webhook, webhookList } from './queries.ts';

const NEW = linkTo(['webhooks', 'new']);

export function WebhooksList() {
	const s = strings();
	const t = s.webhookPages;
	const query = useQuery(webhookList());
	return (
		<>
			<PageHeader title={s.webhooks} purpose={t.purpose}>
				{may('webhooks:write') && (
					<ButtonLink look="primary" icon="plus" href={NEW}>
						{t.create}
					</ButtonLink>
				)}
			</PageHeader>
			<QueryContent query={query}>
				{(webhooks) =>
					webhooks.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							{may('webhooks:write') && <ButtonLink href={NEW}>{t.create}</ButtonLink>}
						</EmptyState>
					) : (
						<WebhookTable webhooks={webhooks} />
					)
				}
			</QueryContent>
		</>
	);
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
	const s = strings();
	const t = s.webhookPages;
	const pathOf = ({ id }: Webhook) => ['webhooks', id];
	return (
		<Table
			label={s.webhooks}
			rows={webhooks}
			pathOf={pathOf}
			columns={[
				{
					title: t.url,
					cell: (webhook) => (
						<>
							<a href={linkTo(pathOf(webhook))}>{webhook.url}</a>
							{webhook.description && <p class="hint">{webhook.description}</p>}
						</>
					),
				},
				{
					title: t.events,
					cell: ({ events }) => (events.includes('*') ? t.all : count(t.eventCount, events.length)),
					isMinor: true,
				},
				{ title: t.status, cell: (webhook) => <WebhookStatus webhook={webhook} /> },
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} />, isMinor: true },
			]}
		/>
	);
}

/** Whether a webhook gets events, and why not. */
export function WebhookStatus({ webhook: { status, disabled_reason } }: { webhook: Webhook }) {
	const t = strings().webhookPages;
	if (status === 'active') return <Status tone="green">{t.active}</Status>;
	return (
		<>
			<Status tone="amber">{t.disabled}</Status>
			{disabled_reason && <p class="hint">{disabled_reason}</p>}
		</>
	);
}
