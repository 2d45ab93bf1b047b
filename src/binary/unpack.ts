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

/** So much of a file is looked at together. */
const READ_BLOCK_BYTES = 256 * 1024;
/** Who was writing a file so long ago is not any more (ms). */
const STALE_PARTIAL_FILE_MS = 3_600_000;

/**
 * Sees to it that a folder holds these contents, every byte of them: whatever is missing or different is written. Each file
 * comes into being whole, under its name, or not at all; so several processes may do this at once, one may be killed in the
 * midst of it, and a server that runs from the folder never reads half a file. Nothing needs to have reached the disk:
 * what a power cut damages is found at the next start.
 * @param read the bytes of a part
 * @returns how many files were written
 * @throws Unusable, or what the file system throws
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
		// A disk that cannot read it any more may still be able to write it anew.
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

/** Removes what a process that was killed had begun to write. */
function removeStalePartialFiles(folder: string): void {
	for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
		if (!name.endsWith('.tmp')) continue;
		const path = join(folder, name);
		try {
			if (Date.now() - statSync(path).mtimeMs > STALE_PARTIAL_FILE_MS) rmSync(path, { force: true });
		} catch {
			// Its writer has just put it in place.
		}
	}
}
