import { isAbsolute, relative, sep } from 'node:path';
import { AppError, messageOf } from '../base/index.ts';

/** What the operator can do, by the prefix of the error code. */
const REMEDIES: Readonly<Record<string, string>> = {
	EACCES: 'this user may not read or write there. Give the folder, and all that is in it, to the user that runs Parley',
	EPERM: 'this user may not read or write there. Give the folder, and all that is in it, to the user that runs Parley',
	EEXIST: 'there is a file in its place. Move that away',
	ENOTDIR: 'there is a file in its place, or in the place of a folder above it. Move that away',
	EISDIR: 'there is a folder in the place of a file. Move that away',
	ENOENT: 'it does not exist, and this file system takes no new folders or files',
	ELOOP: 'its path leads through links that lead to each other. Mend the links',
	EROFS: 'the disk is mounted read-only. Mount it for writing',
	ENOSPC: 'the disk is full. Make room',
	EDQUOT: 'the quota of the disk is used up. Make room',
	EIO: 'the disk reports errors. Look at its health',
	EMFILE: 'this process may not open more files. Raise the limit (ulimit -n)',
	SQLITE_FULL: 'the disk is full. Make room',
	SQLITE_READONLY:
		'the database may not be written to. Give the files to the user that runs Parley, or mount the disk for writing where it is read-only',
	SQLITE_CANTOPEN: 'the database cannot be opened. Give the files to the user that runs Parley',
	SQLITE_PERM: 'the database may not be opened. Give the files to the user that runs Parley',
	SQLITE_IOERR: 'the disk reports errors. Look at its health, and whether it is full',
};

/**
 * An error of the data folder as a sentence that says what the operator can do; null for another kind of error, or one about
 * a path elsewhere.
 */
export function dataFolderError(error: unknown, dataDir: string): AppError | null {
	const code = (error as { code?: unknown } | null)?.code;
	if (error instanceof AppError || typeof code !== 'string') return null;
	const prefix = Object.keys(REMEDIES).find((codePrefix) => code.startsWith(codePrefix));
	if (prefix === undefined) return null;
	const { path } = error as NodeJS.ErrnoException;
	if (path !== undefined && !isInside(path, dataDir) && !isInside(dataDir, path)) return null;
	const where = path === undefined || path === dataDir ? '' : ` (${path})`;
	const sentence = `The data folder ${dataDir} cannot be used${where}: ${REMEDIES[prefix]}, or set PARLEY_DATA_DIR to another folder. (${code})`;
	return new AppError('unavailable', sentence, { cause: error });
}

/** What SQLite says where the stored text of the schema has changed: a table or a column has another name. */
const OTHER_NAMES = /^(no such (table|column): |table \w+ has no column )/;

/** An error of a damaged database as a sentence that says what the operator can do; null for another error. */
export function damagedDatabaseError(error: unknown, dataDir: string): AppError | null {
	const code = (error as { code?: unknown } | null)?.code;
	if (error instanceof AppError || typeof code !== 'string') return null;
	const isDamage =
		/^SQLITE_(CORRUPT|NOTADB)/.test(code) || (code === 'SQLITE_ERROR' && OTHER_NAMES.test(messageOf(error)));
	if (!isDamage) return null;
	// SQLite quotes the schema, which has several lines.
	const problem = messageOf(error).replace(/\s+/g, ' ').trim();
	const sentence = `The database in ${dataDir} is damaged: ${problem}. Restore a backup; "parley doctor" shows what is damaged. (${code})`;
	return new AppError('unavailable', sentence, { cause: error });
}

/** Whether a path is the folder or inside it. */
function isInside(path: string, folder: string): boolean {
	const way = relative(folder, path);
	return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
