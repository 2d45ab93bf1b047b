import { requireKeyOfCluster } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { databaseError, openPostgresStore, type Store } from '../store/index.ts';

/** How a command uses the database. */
export interface PostgresUse {
	/** `exclusive_tool`: no server may run meanwhile. */
	role: 'tool' | 'exclusive_tool';
	/** Whether another secret key than that of the database is accepted. */
	acceptsAnyKey: boolean;
}

/**
 * Runs a task on the store in PostgreSQL, with or without running servers.
 * @throws AppError `not_found` for an empty database, `unavailable` when it cannot be used, for another schema, and for another secret key
 */
export async function withPostgresStore<T>(
	{ database_url: url = '', secret_key = '' }: Settings,
	task: (store: Store) => Promise<T>,
	{ role, acceptsAnyKey }: PostgresUse,
): Promise<T> {
	try {
		await using store = await openPostgresStore({ url, role });
		if (!acceptsAnyKey) await requireKeyOfCluster(store, secret_key);
		return await task(store);
	} catch (error) {
		throw databaseError(error) ?? error;
	}
}

/**
 * Refuses a command that works on the files of the embedded database.
 * @throws AppError `unavailable` with PARLEY_DATABASE_URL
 */
export function requireEmbedded({ database_url }: Settings, command: string): void {
	if (database_url === undefined) return;
	throw new AppError(
		'unavailable',
		`"parley ${command}" works on the embedded database, and PARLEY_DATABASE_URL is set. Back PostgreSQL up with pg_dump or its own archive, and restore it with pg_restore.`,
	);
}
