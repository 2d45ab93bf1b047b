export { openPostgresBlobs, PostgresBlobs, type PostgresBlobsOptions } from './postgres-blobs.ts';
