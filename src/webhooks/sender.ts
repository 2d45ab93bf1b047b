import type { Clock } from '../base/index.ts';
import type { Network, PostOutcome } from '../net/index.ts';
import type { WebhookRecord } from '../store/index.ts';
import { type SignedDelivery, signatureHeaders } from './sign.ts';
import { isSecretCleared, type SigningSecrets } from './signing-secrets.ts';

/** Milliseconds that an attempt may take, including DNS and TLS (section 6 of the specification). */
export const ATTEMPT_TIMEOUT_MS = 5_000;
/** Bytes of the response body that are kept. */
const MAX_RESPONSE_BYTES = 2_048;

/** What the sender needs. */
export interface SenderOptions {
	network: Pick<Network, 'post'>;
	secrets: SigningSecrets;
	clock: Clock;
}

/** The result of one attempt; `error` says why it was not delivered, as a sentence. */
export interface Attempt extends PostOutcome {
	delivered: boolean;
}

/** The result for an endpoint without a secret: nothing is sent without a signature. */
const UNSIGNED_ATTEMPT: Attempt = {
	delivered: false,
	status: null,
	headers: {},
	body: '',
	duration_ms: 0,
	error: "The webhook's signing secret was removed when the server's secret key was reset. Rotate the secret.",
};

/** Sends signed events to endpoints, one attempt each. */
export class Sender {
	readonly #network: Pick<Network, 'post'>;
	readonly #secrets: SigningSecrets;
	readonly #clock: Clock;

	constructor({ network, secrets, clock }: SenderOptions) {
		this.#network = network;
		this.#secrets = secrets;
		this.#clock = clock;
	}

	/** @throws only the reason of the signal */
	async send(endpoint: WebhookRecord, delivery: SignedDelivery, signal?: AbortSignal): Promise<Attempt> {
		if (isSecretCleared(endpoint)) return UNSIGNED_ATTEMPT;
		const now = this.#clock.now();
		const outcome = await this.#network.post(endpoint.url, {
			headers: {
				'content-type': 'application/json',
				...signatureHeaders(delivery, this.#secrets.activeSecrets(endpoint, now), now),
			},
			body: delivery.body,
			timeoutMs: ATTEMPT_TIMEOUT_MS,
			maxBodyBytes: MAX_RESPONSE_BYTES,
			httpsOnly: true,
			...(signal ? { signal } : {}),
		});
		const error = outcome.error ?? failureReason(outcome.status);
		return { ...outcome, error, delivered: error === null };
	}
}

/** Why a response with this status is no delivery; null when it is one. */
function failureReason(status: number | null): string | null {
	if (status !== null && status >= 200 && status <= 299) return null;
	const redirects = status !== null && status >= 300 && status <= 399 ? ', and redirects are not followed' : '';
	return `The endpoint answered with status ${status}${redirects}.`;
}
