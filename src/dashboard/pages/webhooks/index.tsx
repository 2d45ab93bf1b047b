import { DeliveryPage } from './delivery.tsx';
import { WebhooksList } from './list.tsx';
import { NewWebhook } from './new.tsx';
import { WebhookPage } from './webhook.tsx';

/** `webhooks`, `webhooks/new`, `webhooks/{id}`, `webhooks/{id}/{delivery}` */
export default function Webhooks({ path }: { path: readonly string[] }) {
	const [id, deliveryId] = path;
	if (id === undefined) return <WebhooksList />;
	if (id === 'new') return <NewWebhook />;
	if (deliveryId !== undefined) return <DeliveryPage key={deliveryId} webhookId={id} id={deliveryId} />;
	return <WebhookPage key={id} id={id} />;
}
