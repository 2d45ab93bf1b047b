import type { PendingReply, StoredResponse } from '../../commit.ts';
import { ERASED_SCOPE, hashOfRequest, type RequestIdentity } from '../../erased-request.ts';
import type { IdempotencyReader, StoredResponseOptions } from '../../readers.ts';
import type { Sql } from '../sql.ts';

/** SQL: a stored response is sealed. Other responses are JSON, which never begins with `v1.`. */
export const IS_SEALED = "body LIKE 'v1.%'";

/** A response is complete (`status`, `body`) or pending (JSON of a `PendingReply`); the table checks that it is one of them. */
type StoredResponseRow = { body_hash: string } & (
	| { status: number; body: string; pending: null }
	| { status: null; body: null; pending: string }
);

/** Queries about responses stored under an idempotency key. */
export class PostgresIdempotencyReader implements IdempotencyReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async storedResponse(
		request: RequestIdentity,
		{ includeExpired = false }: StoredResponseOptions = {},
	): Promise<StoredResponse | undefined> {
		const { scope, key } = request;
		const row = await this.#sql.get<StoredResponseRow>(
			`SELECT body_hash, status, body, pending FROM idempotency
			 WHERE (scope = @scope AND key = @key OR scope = '${ERASED_SCOPE}' AND key = @hash)
			 AND (@include_expired OR expires_at > now_ms()) ORDER BY scope = @scope DESC LIMIT 1`,
			{ scope, key, hash: hashOfRequest(request), include_expired: includeExpired },
		);
		if (row === undefined) return undefined;
		const { body_hash, status, body, pending } = row;
		return pending === null ? { body_hash, status, body } : { body_hash, pending: JSON.parse(pending) as PendingReply };
	}

	async hasSealedResponses(): Promise<boolean> {
		return (await this.#sql.get(`SELECT 1 FROM idempotency WHERE ${IS_SEALED} LIMIT 1`)) !== undefined;
	}
}
