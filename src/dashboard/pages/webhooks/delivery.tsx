import { api } from '../../api/client.ts';
import { useLiveQueries } from '../../api/live.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { CodeBlock, jsonText } from '../../components/code-block.tsx';
import { ShortId } from '../../components/copy-button.tsx';
import { DetailList } from '../../components/detail-list.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { DeliveryState } from './deliveries.tsx';
import { type DeliveryDetail, deliveryById, webhookById } from './queries.ts';

/** One delivery: its attempts, and the body that they sent. */
export function DeliveryPage({ webhookId, id }: { webhookId: string; id: string }) {
	const t = strings().webhookPages;
	const query = useQuery(deliveryById(webhookId, id));
	useLiveQueries(['webhook_delivery.updated'], deliveryById(webhookId, id).queryKey, ({ data }) => data.id === id);
	const { data: webhook } = useQuery(webhookById(webhookId));
	const retry = useAction(async () => {
		const path = '/api/v1/webhooks/{id}/deliveries/{delivery_id}/retry';
		await api.POST(path, { params: { path: { id: webhookId, delivery_id: id } } });
		showToast(t.retried);
		void invalidate('webhooks', 'deliveries', webhookId);
	});
	const back = { label: webhook?.value.url ?? t.deliveries, href: linkTo(['webhooks', webhookId]) };
	return (
		<QueryContent query={query}>
			{(delivery) => (
				<>
					<PageHeader title={delivery.event_type} back={back}>
						<ShortId id={id} />
						{may('webhooks:write') && (
							<Button icon="retry" isBusy={retry.isBusy} onClick={() => void retry.run()}>
								{t.retryDelivery}
							</Button>
						)}
					</PageHeader>
					<div class="columns">
						<div>
							<Facts delivery={delivery} />
							<Attempts delivery={delivery} />
						</div>
						<section class="card">
							<h2>{t.eventBody}</h2>
							<CodeBlock label={t.eventBody} text={jsonText(delivery.event)} isTall />
						</section>
					</div>
				</>
			)}
		</QueryContent>
	);
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
	const t = strings().webhookPages;
	const time = (at: string | null) => at && <RelativeTime at={at} />;
	return (
		<section class="card">
			<DetailList
				items={[
					{ label: t.status, value: <DeliveryState status={delivery.status} /> },
					{ label: t.created, value: time(delivery.created_at) },
					{ label: t.next, value: time(delivery.next_attempt_at) },
					{ label: t.ended, value: time(delivery.completed_at) },
					{ label: t.eventId, value: <ShortId id={delivery.event_id} /> },
				]}
			/>
		</section>
	);
}

/** The attempts, the last one first. */
function Attempts({ delivery: { attempt_log } }: { delivery: DeliveryDetail }) {
	const t = strings().webhookPages;
	return (
		<section class="card" aria-live="polite">
			<h2>{t.attempts}</h2>
			{attempt_log.length === 0 && <p class="soft">{t.noAttempts}</p>}
			<ol class="attempts" reversed>
				{attempt_log.toReversed().map(({ number, at, status_code, duration_ms, error, answer }) => (
					<li key={number}>
						<div class="attempt">
							<b>{fill(t.attempt, { n: number })}</b>
							<Status tone={error === null ? 'green' : 'red'}>{status_code ?? t.noAnswer}</Status>
							<span class="soft">
								{fill(t.duration, { ms: duration_ms })} · <RelativeTime at={at} />
							</span>
						</div>
						{error && <p>{error}</p>}
						{answer !== null &&
							(answer === '' ? (
								<p class="hint">{t.emptyAnswer}</p>
							) : (
								<details>
									<summary>{t.answerBody}</summary>
									<CodeBlock label={t.answerBody} text={answer} />
								</details>
							))}
					</li>
				))}
			</ol>
		</section>
	);
}
