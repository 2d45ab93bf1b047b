export { databaseFile, openReadOnly } from './connection.ts';
export { newestDatabaseCopy, removeDatabaseCopies } from './database-copies.ts';
export { FileBlobs } from './file-blobs.ts';
export { FOLDER_LOCK, lockDataFolder, lockForBackup, tryLockFolder } from './file-lock.ts';
export { type DatabaseReport, inspectDatabase, namedBlobs, repairSearchIndex } from './inspection.ts';
export { openReaders } from './open-readers.ts';
export {
	backupSeries,
	copyDatabase,
	DatabaseSnapshot,
	requireKnownSchema,
	SCHEMA_VERSION,
	type SnapshotBlob,
} from './snapshot.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
export { repairLog, requireSoundLog } from './wal-repair.ts';
export { runWriterThread, type WriterThreadData } from './writer-thread.ts';
