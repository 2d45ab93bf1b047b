import { createHash, randomBytes } from 'node:crypto';
import {
	closeSync,
	fstatSync,
	openSync,
	readdirSync,
	readSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { AssetManifest, EmbeddedFile } from './manifest.ts';
import { ensurePrivateFolder, makeFolders } from './private-folder.ts';

/** The chunk size for comparing files. */
const READ_BLOCK_BYTES = 256 * 1024;
/** The writer of a temporary file older than this has ended (ms). */
const STALE_PARTIAL_FILE_MS = 3_600_000;

/**
 * Makes a folder have exactly these contents: writes every file that is missing or different. Each file is renamed into place
 * whole, so several processes may unpack at the same time, one may be killed meanwhile, and a server that runs from the folder
 * never reads half a file. No sync is needed: the next start finds what a power cut damaged.
 * @param read gives the bytes of a file
 * @returns the number of files written
 * @throws UnusableFolderError, or the error of the file system
 */
export function unpack(folder: string, contents: AssetManifest, read: (path: string) => Uint8Array): number {
	ensurePrivateFolder(folder);
	const block = Buffer.allocUnsafe(READ_BLOCK_BYTES);
	const damaged = contents.parts.filter((part) => !isIntact(join(folder, part.path), part, block));
	for (const { path } of damaged) writeAtomically(join(folder, path), read(path));
	removeStalePartialFiles(folder);
	return damaged.length;
}

function isIntact(path: string, { bytes, sha256 }: EmbeddedFile, block: Buffer): boolean {
	let file: number;
	try {
		file = openSync(path, 'r');
	} catch {
		return false;
	}
	try {
		const found = fstatSync(file);
		if (!found.isFile() || found.size !== bytes) return false;
		const hash = createHash('sha256');
		for (let at = 0; at < bytes; ) {
			const length = readSync(file, block, 0, READ_BLOCK_BYTES, at);
			if (length === 0) return false;
			hash.update(block.subarray(0, length));
			at += length;
		}
		return hash.digest('hex') === sha256;
	} catch {
		// A disk that cannot read the file may still be able to write it again.
		return false;
	} finally {
		closeSync(file);
	}
}

function writeAtomically(path: string, contents: Uint8Array): void {
	makeFolders(dirname(path));
	const partial = `${path}.${randomBytes(8).toString('hex')}.tmp`;
	try {
		writeFileSync(partial, contents, { flag: 'wx', mode: 0o600 });
		renameSync(partial, path);
	} catch (error) {
		rmSync(partial, { force: true });
		throw error;
	}
}

/** Removes temporary files of killed processes. */
function removeStalePartialFiles(folder: string): void {
	for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
		if (!name.endsWith('.tmp')) continue;
		const path = join(folder, name);
		try {
			if (Date.now() - statSync(path).mtimeMs > STALE_PARTIAL_FILE_MS) rmSync(path, { force: true });
		} catch {
			// Its writer has just renamed it.
		}
	}
}
