import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { currentTab, Tabs } from '../../components/tabs.tsx';
import { strings } from '../../languages/index.ts';
import { Deliveries } from './deliveries.tsx';
import { PingButton } from './ping-button.tsx';
import { webhookById } from './queries.ts';
import { WebhookSettings } from './settings.tsx';
import { StatusButton } from './status-button.tsx';

/** One webhook: its deliveries, and its settings. */
export function WebhookPage({ id }: { id: string }) {
	const s = strings();
	const t = s.webhookPages;
	const query = useQuery(webhookById(id));
	const isWriter = may('webhooks:write');
	const tabs = [
		{ value: 'deliveries', label: t.deliveries },
		...(isWriter ? [{ value: 'settings', label: t.settings }] : []),
	];
	return (
		<QueryContent query={query}>
			{(webhook) => (
				<>
					<PageHeader
						title={webhook.value.url}
						{...(webhook.value.description ? { purpose: webhook.value.description } : {})}
						back={{ label: s.webhooks, href: linkTo(['webhooks']) }}
					>
						<ShortId id={id} />
						{isWriter && <PingButton id={id} />}
						{isWriter && <StatusButton webhook={webhook.value} />}
					</PageHeader>
					{webhook.value.status === 'disabled' && (
						<p class="notice page-notice">
							<Status tone="amber">{t.disabled}</Status> {webhook.value.disabled_reason}
						</p>
					)}
					<Tabs label={webhook.value.url} tabs={tabs} />
					{currentTab(tabs) === 'settings' ? (
						<WebhookSettings webhook={webhook} />
					) : (
						<Deliveries webhook={webhook.value} />
					)}
				</>
			)}
		</QueryContent>
	);
}
