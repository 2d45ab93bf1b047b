import type { Readers } from '../readers.ts';
import { databaseFile, openReadOnly } from './connection.ts';
import { SqliteReaders } from './readers.ts';

/** Opens the reading side alone, beside a running server or without one. Changes nothing. The schema must be today's. */
export function openReaders(dataDir: string): Readers & Disposable {
	const db = openReadOnly(databaseFile(dataDir));
	return Object.assign(new SqliteReaders(db), { [Symbol.dispose]: () => void db.close() });
}
