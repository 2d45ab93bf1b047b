import { newId } from '../base/index.ts';
import type { WebhookTest } from '../contract/index.ts';
import type { WebhookRecord } from '../store/index.ts';
import { renderEvent } from './event-body.ts';
import type { Sender } from './sender.ts';

/** Sends an endpoint a ping, once: an event that is in no log. */
export async function ping(sender: Sender, endpoint: WebhookRecord, now: number): Promise<WebhookTest> {
	const event = { id: newId('event'), type: 'ping', data: { webhook_id: endpoint.id }, created_at: now };
	const attempt = await sender.send(endpoint, { ...event, body: renderEvent(event) });
	const { delivered, status, duration_ms, error } = attempt;
	return { delivered, status_code: status, duration_ms, error };
}
