import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { AccessReader } from '../../readers.ts';
import type { ApiKeyRecord, SessionRecord, UserRecord } from '../../records.ts';
import { hasOldSpending } from '../spending/index.ts';
import type { Prepare } from '../statements.ts';

/** Queries about credentials. */
export class SqliteAccessReader implements AccessReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async apiKeyByHash(hash: string): Promise<ApiKeyRecord | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('api_keys')} FROM api_keys WHERE hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('api_keys', row);
	}

	async sessionByHash(hash: string): Promise<SessionRecord | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('sessions')} FROM sessions WHERE hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('sessions', row);
	}

	async userByPasswordLink(hash: string): Promise<UserRecord | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('users')} FROM users WHERE password_link_hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('users', row);
	}

	async hasExpiredRecords(before: number): Promise<boolean> {
		const found = this.#prepare(
			`SELECT EXISTS (SELECT 1 FROM idempotency WHERE expires_at <= @before)
			 OR EXISTS (SELECT 1 FROM sessions WHERE expires_at <= @before)
			 OR EXISTS (SELECT 1 FROM audit_log WHERE expires_at <= @before)
			 OR EXISTS (SELECT 1 FROM budget_notices WHERE expires_at <= @before) AS found`,
		).get({ before }) as { found: number };
		return found.found === 1 || hasOldSpending(this.#prepare, before);
	}
}
