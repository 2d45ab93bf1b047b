import type { Write } from '../commit.ts';
import type { RecordWrite } from './encode-commit.ts';
import type { Sql } from './sql.ts';

/** Carries out a write that is more than one record, inside the caller's transaction. */
export async function applyWrite(_sql: Sql, write: Exclude<Write, RecordWrite>): Promise<void> {
	switch (write.op) {
		default:
			throw new Error(`PostgreSQL has no write ${write.op}.`);
	}
}
