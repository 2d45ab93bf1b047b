import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isFolderName } from './manifest.ts';

/** A version whose folder nobody has used for so long is removed (ms). */
const UNUSED_FOLDER_MS = 14 * 86_400_000;
/** A running server says so often that it uses its folder (ms). */
const MARK_INTERVAL_MS = 86_400_000;

/** Marks a folder as in use, now and for as long as this process runs. */
export function keepMarkedAsUsed(folder: string): void {
	const mark = () => {
		const now = new Date();
		try {
			utimesSync(folder, now, now);
		} catch {
			// A folder that we cannot write to is one that we do not remove either.
		}
	};
	mark();
	setInterval(mark, MARK_INTERVAL_MS).unref();
}

/** Removes the folders of other versions in this place that have not been in use for two weeks. */
export function removeOldVersions(parentFolder: string, current: string): void {
	for (const name of readdirSync(parentFolder)) {
		if (name === current || !isFolderName(name)) continue;
		try {
			const folder = join(parentFolder, name);
			if (Date.now() - statSync(folder).mtimeMs > UNUSED_FOLDER_MS) rmSync(folder, { recursive: true, force: true });
		} catch {
			// Somebody else's, or gone already.
		}
	}
}
