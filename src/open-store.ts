import { mkdir } from 'node:fs/promises';
import { AppError, type Log, messageOf } from './base/index.ts';
import type { Settings } from './config/index.ts';
import type { Metrics } from './metrics/index.ts';
import { workerEntry } from './pool/index.ts';
import { type OpenedStore, openSqliteStore } from './store/index.ts';

export interface OpenStoreOptions {
	settings: Settings;
	log: Log;
	metrics: Metrics;
	/** Where the other nodes of the cluster reach this one; null for the embedded store. */
	address: string | null;
}

/**
 * Opens the embedded store, or the one on PostgreSQL.
 * @throws AppError `unavailable` with a sentence for a problem that the operator can resolve
 */
export function openStore({ settings, log, metrics, address }: OpenStoreOptions): Promise<OpenedStore> {
	const { data_dir: dataDir, database_url: url } = settings;
	const observer = metrics.work.commits;
	if (url !== undefined) return openPostgres({ url, address: address ?? '', log, observer }, dataDir);
	return openSqliteStore({
		...{ dataDir, log, observer },
		writer: workerEntry('store'),
		onFailure(error) {
			// Nothing can be written any more. The supervisor restarts the process.
			log.fatal({ error: messageOf(error) }, 'nothing can be written any more: the server ends');
			setTimeout(() => process.exit(1), 200);
		},
	});
}

type PostgresModule = typeof import('./store/postgres/index.ts');

async function openPostgres(
	options: Parameters<PostgresModule['openPostgresStore']>[0],
	dataDir: string,
): Promise<OpenedStore> {
	// The notice of the first start is written there.
	await mkdir(dataDir, { recursive: true });
	// Only here, so that the embedded store does not load it.
	const { openPostgresStore } = await import('./store/postgres/index.ts');
	try {
		return await openPostgresStore(options);
	} catch (cause) {
		const remedy = 'Check PARLEY_DATABASE_URL, and that the database runs.';
		throw new AppError('unavailable', `PostgreSQL cannot be used: ${messageOf(cause)} ${remedy}`, { cause });
	}
}
