export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
