import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { AppError, makeDurableFolder } from '../base/index.ts';
import { writeError } from './archive-errors.ts';

/** Errors that do not pass by themselves, as a full disk and a network without an answer do. */
const LASTING = new Set(['EACCES', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** Whether a target is a folder, in which a backup is named by its time, and not a file. */
export async function isBackupFolder(path: string): Promise<boolean> {
	if (path.endsWith(sep)) return true;
	const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		throw error;
	});
	return found?.isDirectory() ?? false;
}

/**
 * Makes the folder of the server's backups if it is missing, and checks that files can be made in it. What may pass, such as a full disk,
 * is left to the backups.
 * @throws AppError `unavailable` with a sentence about the folder
 */
export async function prepareBackupFolder(folder: string, dataDir: string): Promise<void> {
	await requireOutside(folder, dataDir);
	try {
		makeDurableFolder(folder, 0o700);
		await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (LASTING.has(code ?? '')) throw writeError(error, folder);
	}
}

/**
 * Requires that backups are not made in the data folder: they would be lost with it, and lie among the uploaded files.
 * @throws AppError `unavailable`
 */
export async function requireOutside(folder: string, dataDir: string): Promise<void> {
	const [inner, outer] = await Promise.all([realPathOf(folder), realPathOf(dataDir)]);
	if (inner !== outer && !inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)) return;
	throw new AppError(
		'unavailable',
		`${folder} is in the data folder: make backups in another one, best on another disk.`,
	);
}

/** A path without symbolic links, of which the end may be missing. */
async function realPathOf(path: string): Promise<string> {
	const absolute = resolve(path);
	try {
		return await realpath(absolute);
	} catch {
		const parent = dirname(absolute);
		return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
	}
}
