import { AppError, messageOf } from '../base/index.ts';
import type { OpenedStore } from './opened-store.ts';
import type { PostgresStoreOptions } from './postgres/postgres-store.ts';

/**
 * Opens the store on PostgreSQL. Its code is loaded only here: the embedded store does without.
 * @throws AppError `unavailable` with a sentence
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedStore> {
	const postgres = await import('./postgres/index.ts');
	try {
		return await postgres.openPostgresStore(options);
	} catch (cause) {
		// A sentence about the database itself.
		if (cause instanceof AppError) throw cause;
		const remedy = 'Check PARLEY_DATABASE_URL, and that the database runs.';
		throw new AppError('unavailable', `PostgreSQL cannot be used: ${messageOf(cause)} ${remedy}`, { cause });
	}
}
