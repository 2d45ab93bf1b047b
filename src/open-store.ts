import { mkdir } from 'node:fs/promises';
import { type Log, messageOf } from './base/index.ts';
import type { Settings } from './config/index.ts';
import type { Metrics } from './metrics/index.ts';
import { workerEntry } from './pool/index.ts';
import { type OpenedStore, openPostgresStore, openSqliteStore } from './store/index.ts';

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
export async function openStore({ settings, log, metrics, address }: OpenStoreOptions): Promise<OpenedStore> {
	const { data_dir: dataDir, database_url: url } = settings;
	const observer = metrics.work.commits;
	if (url !== undefined) {
		// The notice of the first start is written there.
		await mkdir(dataDir, { recursive: true });
		return openPostgresStore({
			...{ url, address: address ?? '', log, observer },
			onExpelled: (error) => endProcess(log, error, 'this node may not go on: the server ends'),
		});
	}
	return openSqliteStore({
		...{ dataDir, log, observer },
		writer: workerEntry('store'),
		onFailure: (error) => endProcess(log, error, 'nothing can be written any more: the server ends'),
	});
}

/** Nothing can be written any more. The supervisor restarts the process. */
function endProcess(log: Log, error: unknown, message: string): void {
	log.fatal({ error: messageOf(error) }, message);
	setTimeout(() => process.exit(1), 200);
}
