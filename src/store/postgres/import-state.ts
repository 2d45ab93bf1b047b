import { AppError } from '../../base/index.ts';
import type { Sql } from './sql.ts';

/** @throws AppError `unavailable` while an import has not ended: some rows are missing */
export async function requireCompleteImport(sql: Sql): Promise<void> {
	const row = await sql.get('SELECT 1 FROM imports WHERE completed_at IS NULL');
	if (row !== undefined) throw incompleteImportError();
}

/** The error of a server or a command on a database with a part of an embedded one. */
export function incompleteImportError(): AppError {
	return new AppError(
		'unavailable',
		'The copy of an embedded database into this PostgreSQL database has not ended. Run "parley migrate" again, or empty the database.',
	);
}
