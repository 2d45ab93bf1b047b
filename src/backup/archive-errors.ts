import { AppError } from '../base/index.ts';

/** An archive that is not, or not completely, what the writer of archives wrote. */
export class DamagedArchiveError extends AppError {
	/** @param reason the end of a sentence that begins with the file, such as `it ends too early` */
	constructor(file: string, reason: string) {
		super('unreadable_file', `${file} is no intact backup of Parley: ${reason}.`);
	}
}

const DISK_FULL = /^(ENOSPC|EDQUOT|SQLITE_FULL)/;
const NOT_PERMITTED = /^(EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_PERM)/;

/** Whether SQLite cannot read a database because of its content. `SQLITE_ERROR`: a table of its schema is missing. */
export function isDatabaseDamage(error: unknown): error is Error {
	const { code } = error as { code?: unknown };
	return error instanceof Error && typeof code === 'string' && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code);
}

/** A failure to write in a folder as a sentence; the same error where it is another one. */
export function writeError(error: unknown, folder: string): unknown {
	const { code, path } = error as { code?: unknown; path?: unknown };
	if (error instanceof AppError || typeof code !== 'string') return error;
	// The data folder has sentences of its own. Node 22 names the folder above where that is a file.
	if (typeof path === 'string' && !path.startsWith(folder) && !folder.startsWith(`${path}/`)) return error;
	const reason = reasonOf(code);
	if (reason === null) return error;
	return new AppError('unavailable', `${folder} cannot be written to: ${reason}. (${code})`, { cause: error });
}

function reasonOf(code: string): string | null {
	if (DISK_FULL.test(code)) return 'the disk is full, and needs more free space than a backup is large';
	if (NOT_PERMITTED.test(code)) return 'this user has no permission, or the disk is mounted read-only';
	if (code === 'ENOENT') return 'the folder does not exist';
	if (code === 'ENOTDIR' || code === 'EEXIST') return 'there is a file in the place of a folder';
	if (/^(EIO|SQLITE_IOERR)/.test(code)) return 'the disk reports errors';
	return null;
}
