import { AppError, newId } from '../base/index.ts';
import type { WebhookTest } from '../contract/index.ts';
import type { WebhookRecord } from '../store/index.ts';
import { renderEvent } from './event-body.ts';
import { ATTEMPT_TIMEOUT_MS, type Sender } from './sender.ts';

/** Concurrent pings of one workspace: enough to try out endpoints, too few to occupy the server's sockets. */
const MAX_CONCURRENT_PINGS = 5;

/** Sends test pings to endpoints. */
export class Pings {
	readonly #sender: Sender;
	/** Running pings by workspace. */
	readonly #inFlight = new Map<string, number>();

	constructor(sender: Sender) {
		this.#sender = sender;
	}

	/**
	 * Sends an endpoint one ping, an event that is not in the event log.
	 * @throws AppError `rate_limit_exceeded` while too many pings of the endpoint's workspace are running
	 */
	async send(endpoint: WebhookRecord, now: number): Promise<WebhookTest> {
		const { workspace_id: workspace } = endpoint;
		const inFlight = this.#inFlight.get(workspace) ?? 0;
		if (inFlight >= MAX_CONCURRENT_PINGS) {
			// No ping takes longer than this.
			const retry_after = ATTEMPT_TIMEOUT_MS / 1_000;
			throw new AppError('rate_limit_exceeded', `${MAX_CONCURRENT_PINGS} pings are already running.`, {
				retry_after,
			});
		}
		this.#inFlight.set(workspace, inFlight + 1);
		try {
			return await this.#ping(endpoint, now);
		} finally {
			this.#end(workspace);
		}
	}

	async #ping(endpoint: WebhookRecord, now: number): Promise<WebhookTest> {
		const event = { id: newId('event'), type: 'ping', data: { webhook_id: endpoint.id }, created_at: now };
		const attempt = await this.#sender.send(endpoint, { ...event, body: renderEvent(event) });
		const { delivered, status, duration_ms, error } = attempt;
		return { delivered, status_code: status, duration_ms, error };
	}

	#end(workspace: string): void {
		const remaining = (this.#inFlight.get(workspace) ?? 1) - 1;
		if (remaining > 0) this.#inFlight.set(workspace, remaining);
		else this.#inFlight.delete(workspace);
	}
}
