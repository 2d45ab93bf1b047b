import type * as Import from './import/index.ts';
import type * as Postgres from './postgres/index.ts';
import { databaseError } from './postgres-error.ts';

// The code of PostgreSQL is loaded with the first call: the embedded store does without.

/** @throws AppError `unavailable` with a sentence */
export const openPostgresStore: typeof Postgres.openPostgresStore = (options) =>
	withSentence(async () => (await import('./postgres/index.ts')).openPostgresStore(options));

/** @throws AppError `unavailable` with a sentence */
export const inspectPostgres: typeof Postgres.inspectPostgres = (url) =>
	withSentence(async () => (await import('./postgres/index.ts')).inspectPostgres(url));

/** @throws AppError `unavailable` with a sentence */
export const readClusterStatus: typeof Postgres.readClusterStatus = (url) =>
	withSentence(async () => (await import('./postgres/index.ts')).readClusterStatus(url));

/** Its errors are those of both databases: the caller makes sentences of them. */
export const importIntoPostgres: typeof Import.importIntoPostgres = async (options) =>
	(await import('./import/index.ts')).importIntoPostgres(options);

async function withSentence<T>(run: () => Promise<T>): Promise<T> {
	try {
		return await run();
	} catch (error) {
		throw databaseError(error) ?? error;
	}
}
