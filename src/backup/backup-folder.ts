import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { AppError, makeDurableFolder, withDeadline } from '../base/index.ts';
import { writeError } from './archive-errors.ts';

/** Errors that do not pass by themselves, as a full disk and a network without an answer do. */
const LASTING = new Set(['EACCES', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** How long a folder of backups may take to answer a person or a server that starts (ms). */
const ANSWER_MS = 10_000;

/** A folder, such as a network folder, does not answer in time. */
export class FolderTimeout extends Error {
	constructor() {
		super(`It does not answer within ${ANSWER_MS / 1_000} seconds.`);
	}
}

/** Rejects with `FolderTimeout` if the folder does not answer in time. The use of it continues. */
export function withFolderDeadline<T>(use: Promise<T>): Promise<T> {
	return withDeadline(use, ANSWER_MS, () => new FolderTimeout());
}

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
 * Makes the folder of the server's backups if it is missing, and checks that files can be made in it. What may pass, such as a full disk
 * or a network folder that does not answer, is left to the backups.
 * @throws AppError `unavailable` with a sentence about the folder
 */
export async function prepareBackupFolder(folder: string, dataDir: string): Promise<void> {
	try {
		await withFolderDeadline(requireOutside(folder, dataDir));
		makeDurableFolder(folder, 0o700);
		await withFolderDeadline(access(folder, constants.R_OK | constants.W_OK | constants.X_OK));
	} catch (error) {
		if (error instanceof AppError) throw error;
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
