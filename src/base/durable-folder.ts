import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Waits until the entries of a folder are on disk: a file that was created, linked or renamed survives a power cut only then. */
export async function fsyncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r');
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/**
 * Makes a folder and those around it that are missing. Each one that was made is on disk when this returns. For the start
 * of a process: it blocks the thread. (Node's own way, `recursive`, never ends where a file system takes no folders, as /proc.)
 */
export function makeDurableFolder(path: string, mode = 0o777): void {
	const folder = resolve(path);
	if (isFolder(folder)) return;
	const around = dirname(folder);
	if (around !== folder) makeDurableFolder(around, mode);
	try {
		mkdirSync(folder, { mode });
	} catch (error) {
		// Another process may have made it by now.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
	}
	fsyncFolderSync(around);
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
