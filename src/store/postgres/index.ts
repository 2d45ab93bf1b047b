export { type ClusterStatus, type NodeStatus, readClusterStatus } from './cluster-status.ts';
export { inspectPostgres, type PostgresReport } from './inspection.ts';
export {
	openPostgresStore,
	type PostgresRole,
	type PostgresStore,
	type PostgresStoreOptions,
} from './postgres-store.ts';
