import { join } from 'node:path';
import { type Contents, folderName } from './contents.ts';
import { removeOldVersions } from './old-versions.ts';
import { unpack } from './unpack.ts';
import { Unusable, unusable } from './unusable.ts';

/** What the binary needs for unpacking itself. */
export interface Binary {
	contents: Contents;
	/** The bytes of a part. */
	read(path: string): Uint8Array;
	/** Loads a native part from its path. */
	loadNative(path: string): void;
}

/** The part that shows whether code can be loaded from where it lies. */
const PROBE = 'native/better_sqlite3.node';

/**
 * Unpacks into the first of these places that is usable.
 * @returns the folder
 * @throws Unusable with a sentence that names every place, why it is not, and what to do
 */
export function settle(places: readonly string[], binary: Binary): string {
	const refused: string[] = [];
	for (const place of places) {
		try {
			return settleIn(place, binary);
		} catch (error) {
			const reason = unusable(error);
			if (!(reason instanceof Unusable)) throw error;
			refused.push(`${place}: ${reason.message}`);
		}
	}
	const megabytes = Math.ceil(binary.contents.parts.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000_000);
	throw new Unusable(
		`Parley cannot unpack itself.\n${refused.map((line) => `  ${line}.\n`).join('')}` +
			`Set PARLEY_CACHE_DIR to a folder of this user's with ${megabytes} MB of space, on a file system that is not mounted noexec.`,
	);
}

function settleIn(place: string, { contents, read, loadNative }: Binary): string {
	const name = folderName(contents);
	const folder = join(place, name);
	const written = unpack(folder, contents, read);
	try {
		loadNative(join(folder, PROBE));
	} catch (error) {
		throw isNoexec(error) ? new Unusable('programs cannot be run from there (it is mounted noexec)') : error;
	}
	if (written > 0) removeOldVersions(place, name);
	return folder;
}

/** How the C library says that a file may not be mapped for running, and how systems with stricter rules do. */
function isNoexec(error: unknown): boolean {
	const { code, message } = error as NodeJS.ErrnoException;
	return (
		code === 'ERR_DLOPEN_FAILED' &&
		/failed to map segment|cannot (enable|make) .* executable|Operation not permitted|Permission denied/i.test(message)
	);
}
