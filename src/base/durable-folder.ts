import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Waits until the entries of a folder are on disk. Only then does a created, linked or renamed file survive a power cut. */
export async function fsyncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r');
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/**
 * Makes a folder and its missing parents. Each new folder is on disk when this returns. It blocks the thread, so it is only
 * for the start of a process. (Node's `recursive` option never returns on a file system without new folders, such as /proc.)
 */
export function makeDurableFolder(path: string, mode = 0o777): void {
	const folder = resolve(path);
	if (isFolder(folder)) return;
	const parent = dirname(folder);
	if (parent !== folder) makeDurableFolder(parent, mode);
	try {
		mkdirSync(folder, { mode });
	} catch (error) {
		// Another process may have made it meanwhile.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
	}
	fsyncFolderSync(parent);
}

function isFolder(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function fsyncFolderSync(folder: string): void {
	const descriptor = openSync(folder, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
