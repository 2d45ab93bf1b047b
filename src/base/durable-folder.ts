import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Waits until the entries of a folder are on disk: a file that was created, linked or renamed survives a power cut only then. */
export async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, 'r');
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/**
 * Makes a folder and those around it that are missing. Each one that was made is on disk when this returns. For the start
 * of a process: it blocks the thread.
 */
export function makeFolder(path: string, mode = 0o777): void {
	const folder = resolve(path);
	const first = mkdirSync(folder, { recursive: true, mode });
	if (first === undefined) return;
	for (let made = folder; ; made = dirname(made)) {
		syncFolderNow(dirname(made));
		if (made === resolve(first) || dirname(made) === made) return;
	}
}

function syncFolderNow(folder: string): void {
	const descriptor = openSync(folder, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
