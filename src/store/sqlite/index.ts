export { databaseFile, openReadOnly } from './connection.ts';
export { type DatabaseReport, inspectDatabase, repairSearchIndex } from './inspection.ts';
export { openReaders } from './open-readers.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
export { runWriterThread, type WriterThreadData } from './writer-thread.ts';
