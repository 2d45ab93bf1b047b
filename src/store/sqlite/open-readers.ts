import type { Readers } from '../readers.ts';
import { databaseFile, openReadOnly } from './connection.ts';
import { SqliteReaders } from './readers.ts';

/** Opens the readers only, with or without a running server. Changes nothing. The schema must be the current one. */
export function openReaders(dataDir: string): Readers & Disposable {
	const db = openReadOnly(databaseFile(dataDir));
	return Object.assign(new SqliteReaders(db), { [Symbol.dispose]: () => void db.close() });
}
