import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { AccessReader } from '../../readers.ts';
import type { ApiKeyRecord, SessionRecord, UserRecord } from '../../records.ts';
import { hasExpiredRecords } from '../expired-records.ts';
import type { Sql } from '../sql.ts';

/** Queries about credentials. */
export class PostgresAccessReader implements AccessReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async apiKeyByHash(hash: string): Promise<ApiKeyRecord | undefined> {
		const row = await this.#sql.get(`SELECT ${columnsOf('api_keys')} FROM api_keys WHERE hash = @hash`, { hash });
		return row === undefined ? undefined : decodeRow('api_keys', row);
	}

	async sessionByHash(hash: string): Promise<SessionRecord | undefined> {
		const row = await this.#sql.get(`SELECT ${columnsOf('sessions')} FROM sessions WHERE hash = @hash`, { hash });
		return row === undefined ? undefined : decodeRow('sessions', row);
	}

	async userByPasswordLink(hash: string): Promise<UserRecord | undefined> {
		const row = await this.#sql.get(`SELECT ${columnsOf('users')} FROM users WHERE password_link_hash = @hash`, {
			hash,
		});
		return row === undefined ? undefined : decodeRow('users', row);
	}

	hasExpiredRecords(before: number): Promise<boolean> {
		return hasExpiredRecords(this.#sql, before);
	}
}
