import { createHash } from 'node:crypto';
import type { ReceiptKey, StoredResponse } from './commit.ts';

/** What identifies a request and its repeats. */
export type RequestIdentity = Pick<ReceiptKey, 'scope' | 'key' | 'body_hash'>;

/**
 * The scope of erased requests. A conversation is erased with the responses that show it. In the place of each, a hash of the request
 * stays until the response would have expired: an attempt that arrives late is recognised, and the conversation does not come back.
 */
export const ERASED_SCOPE = 'erased';

/** The body hash in the place of an erased request. No real hash is the same. */
export const ERASED_BODY_HASH = 'erased';

/** What is found under the hash of an erased request. It has no content, so that nothing is kept of the conversation. */
export const ERASED_RESPONSE = { body_hash: ERASED_BODY_HASH, status: 400, body: '' } satisfies StoredResponse;

/** SHA-256 of a request, hexadecimal. The function `hash_of_request` in PostgreSQL makes the same. */
export function hashOfRequest({ scope, key, body_hash }: RequestIdentity): string {
	return createHash('sha256').update(`${scope}\n${key}\n${body_hash}`).digest('hex');
}
