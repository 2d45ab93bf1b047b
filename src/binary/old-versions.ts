import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isFolderName } from './manifest.ts';

/** The folder of a version that was unused for this long is removed (ms). */
const UNUSED_FOLDER_MS = 14 * 86_400_000;
/** The interval at which a running server marks its folder as used (ms). */
const MARK_INTERVAL_MS = 86_400_000;

/** Marks a folder as used, now and while this process runs. */
export function keepMarkedAsUsed(folder: string): void {
	const mark = () => {
		const now = new Date();
		try {
			utimesSync(folder, now, now);
		} catch {
			// A folder that this user cannot write to is not removed by this user either.
		}
	};
	mark();
	setInterval(mark, MARK_INTERVAL_MS).unref();
}

/** Removes the folders of other versions here that were not used for two weeks. */
export function removeOldVersions(parentFolder: string, current: string): void {
	for (const name of readdirSync(parentFolder)) {
		if (name === current || !isFolderName(name)) continue;
		try {
			const folder = join(parentFolder, name);
			if (Date.now() - statSync(folder).mtimeMs > UNUSED_FOLDER_MS) rmSync(folder, { recursive: true, force: true });
		} catch {
			// It belongs to another user, or was removed already.
		}
	}
}
