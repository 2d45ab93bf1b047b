import type { SearchReader } from './search-reader.ts';

const POSTGRES_URL = /^postgres(ql)?:\/\//;

/**
 * Opens the search index of a store. A worker loads only the store that it reads.
 * @param database the database file of the embedded store, or the URL of PostgreSQL
 */
export async function openSearchReader(database: string): Promise<SearchReader> {
	if (POSTGRES_URL.test(database)) {
		const { PostgresSearchReader } = await import('../postgres/search/index.ts');
		return new PostgresSearchReader(database);
	}
	const { SqliteSearchReader } = await import('../sqlite/search/index.ts');
	return new SqliteSearchReader(database);
}
