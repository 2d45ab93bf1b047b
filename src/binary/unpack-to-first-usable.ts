import { join } from 'node:path';
import { type AssetManifest, folderName } from './manifest.ts';
import { removeOldVersions } from './old-versions.ts';
import { unpack } from './unpack.ts';
import { toUnusableFolderError, UnusableFolderError } from './unusable-folder-error.ts';

/** The files in the binary, and how to read and load them. */
export interface EmbeddedAssets {
	contents: AssetManifest;
	/** The bytes of a file. */
	read(path: string): Uint8Array;
	/** Loads a native module from its path. */
	loadNative(path: string): void;
}

/** The native module that shows whether code can be loaded from a folder. */
const NATIVE_PROBE = 'native/better_sqlite3.node';

/**
 * Unpacks into the first usable folder.
 * @returns the folder
 * @throws UnusableFolderError whose message names every folder, the reason, and a remedy
 */
export function unpackToFirstUsable(folders: readonly string[], binary: EmbeddedAssets): string {
	const reasons: string[] = [];
	for (const folder of folders) {
		try {
			return unpackTo(folder, binary);
		} catch (error) {
			const reason = toUnusableFolderError(error);
			if (!(reason instanceof UnusableFolderError)) throw error;
			reasons.push(`${folder}: ${reason.message}`);
		}
	}
	const megabytes = Math.ceil(binary.contents.parts.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000_000);
	throw new UnusableFolderError(
		`Parley cannot unpack itself.\n${reasons.map((line) => `  ${line}.\n`).join('')}` +
			`Set PARLEY_CACHE_DIR to a folder of this user with ${megabytes} MB of space, on a file system that is not mounted noexec.`,
	);
}

function unpackTo(parentFolder: string, { contents, read, loadNative }: EmbeddedAssets): string {
	const name = folderName(contents);
	const folder = join(parentFolder, name);
	const written = unpack(folder, contents, read);
	try {
		loadNative(join(folder, NATIVE_PROBE));
	} catch (error) {
		throw isNoexec(error) ? new UnusableFolderError('programs cannot be run from there (it is mounted noexec)') : error;
	}
	if (written > 0) removeOldVersions(parentFolder, name);
	return folder;
}

/** The messages of the C library, and of stricter systems, when a file may not be mapped as executable. */
function isNoexec(error: unknown): boolean {
	const { code, message } = error as NodeJS.ErrnoException;
	return (
		code === 'ERR_DLOPEN_FAILED' &&
		/failed to map segment|cannot (enable|make) .* executable|Operation not permitted|Permission denied/i.test(message)
	);
}
