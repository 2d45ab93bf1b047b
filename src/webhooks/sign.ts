import { createHmac } from 'node:crypto';
import { hmacKeyOf } from './signing-secrets.ts';

/** An event's id and type, and the body that is sent and signed. */
export interface SignedDelivery {
	id: string;
	type: string;
	body: string;
}

/**
 * The headers by which a receiver verifies a delivery.
 *
 * `x-service-signature` is the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the newest secret's whole text.
 * `webhook-signature` follows Standard Webhooks: a value for each secret, separated by spaces, over `id.timestamp.body`. So
 * a receiver that still has a former secret accepts it, and a receiver that checks the timestamp detects a replay.
 *
 * @param secrets the valid secrets, the newest first
 * @param now the time of this attempt (ms since the epoch)
 */
export function signatureHeaders(
	{ id, type, body }: SignedDelivery,
	secrets: readonly [string, ...string[]],
	now: number,
): Record<string, string> {
	const timestamp = String(Math.floor(now / 1000));
	const standard = secrets.map(
		(secret) => `v1,${hmac(hmacKeyOf(secret), `${id}.${timestamp}.${body}`).toString('base64')}`,
	);
	return {
		'x-service-event': type,
		'x-service-timestamp': timestamp,
		'x-service-signature': hmac(secrets[0], body).toString('hex'),
		'webhook-id': id,
		'webhook-timestamp': timestamp,
		'webhook-signature': standard.join(' '),
	};
}

function hmac(key: string | Buffer, text: string): Buffer {
	return createHmac('sha256', key).update(text).digest();
}
