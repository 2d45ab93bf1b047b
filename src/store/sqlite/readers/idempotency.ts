import type { PendingReply, StoredResponse } from '../../commit.ts';
import { ERASED_SCOPE, hashOfRequest, type RequestIdentity } from '../../erased-request.ts';
import type { IdempotencyReader, StoredResponseOptions } from '../../readers.ts';
import type { Prepare } from '../statements.ts';

/** SQL: a stored response is sealed. Other responses are JSON, which never begins with `v1.`. */
export const IS_SEALED = "body GLOB 'v1.*'";

/** A response is complete (`status`, `body`) or pending (JSON of a `PendingReply`); the table checks that it is one of them. */
type StoredResponseRow = { body_hash: string } & (
	| { status: number; body: string; pending: null }
	| { status: null; body: null; pending: string }
);

/** See `IdempotencyReader`. Both connections use it. */
export function storedResponse(
	prepare: Prepare,
	request: RequestIdentity,
	{ includeExpired = false }: StoredResponseOptions,
): StoredResponse | undefined {
	const sql = 'SELECT body_hash, status, body, pending FROM idempotency WHERE scope = ? AND key = ? AND expires_at > ?';
	const find = (scope: string, key: string) =>
		prepare(sql).get(scope, key, includeExpired ? 0 : Date.now()) as StoredResponseRow | undefined;
	const row = find(request.scope, request.key) ?? find(ERASED_SCOPE, hashOfRequest(request));
	if (row === undefined) return undefined;
	const { body_hash, status, body, pending } = row;
	return pending === null ? { body_hash, status, body } : { body_hash, pending: JSON.parse(pending) as PendingReply };
}

/** Queries about responses stored under an idempotency key. */
export class SqliteIdempotencyReader implements IdempotencyReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async storedResponse(
		request: RequestIdentity,
		options: StoredResponseOptions = {},
	): Promise<StoredResponse | undefined> {
		return storedResponse(this.#prepare, request, options);
	}

	async hasSealedResponses(): Promise<boolean> {
		const sql = `SELECT EXISTS (SELECT 1 FROM idempotency WHERE ${IS_SEALED})`;
		return this.#prepare(sql).pluck().get() === 1;
	}
}
