import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { AppError, anySignal } from '../base/index.ts';
import type { SnapshotBlob } from '../store/index.ts';
import { addEntry, blobPath, CHECKSUMS, DATABASE, MANIFEST, renderChecksums } from './archive-entries.ts';
import { type Manifest, renderManifest } from './manifest.ts';

export interface ArchiveContent {
	manifest: Manifest;
	/** The file of the copied database. */
	databaseFile: string;
	/** In ascending order of their hashes. */
	blobs: Iterable<SnapshotBlob>;
	/** The folder that has the folder `blobs`. */
	dataDir: string;
}

/**
 * Writes an archive to a new file, which only its owner can read, and syncs it. Nothing is in memory as a whole.
 * @throws AppError `unavailable` when a blob is missing or damaged; the errors of the disk; the signal's reason
 */
export async function writeArchive(file: string, content: ArchiveContent, signal: AbortSignal): Promise<void> {
	const tar = pack();
	const stopped = new AbortController();
	const written = pipeline(tar, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }), {
		signal: anySignal(signal, stopped.signal),
	});
	written.catch(() => {});
	try {
		await addEntries(tar, content);
		tar.finalize();
		await written;
	} catch (error) {
		stopped.abort();
		const failure = await written.then(
			() => null,
			(reason: unknown) => reason,
		);
		signal.throwIfAborted();
		// A write that fails ends the entry that is being added, without its cause.
		throw (failure as NodeJS.ErrnoException | null)?.syscall === undefined ? error : failure;
	}
}

async function addEntries(tar: Pack, { manifest, databaseFile, blobs, dataDir }: ArchiveContent): Promise<void> {
	const rendered = renderManifest(manifest);
	const manifestSha256 = createHash('sha256').update(rendered).digest('hex');
	await addBytes(tar, MANIFEST, rendered);
	await addBytes(tar, CHECKSUMS, renderChecksums(manifestSha256, manifest.database.sha256));
	await pipeline(createReadStream(databaseFile), addEntry(tar, DATABASE, manifest.database.bytes));
	for (const blob of blobs) {
		const path = join(dataDir, blobPath(blob.hash));
		const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return null;
			throw error;
		});
		if (found === null) throw blobError(blob, 'is missing');
		if (found.size !== blob.bytes) throw blobError(blob, `has ${found.size} bytes instead of ${blob.bytes}`);
		const hash = createHash('sha256');
		const content = createReadStream(path);
		content.on('data', (chunk) => hash.update(chunk));
		await pipeline(content, addEntry(tar, blobPath(blob.hash), blob.bytes));
		if (hash.digest('hex') !== blob.hash) throw blobError(blob, 'is damaged: its SHA-256 is another than its name');
	}
}

function addBytes(tar: Pack, name: string, bytes: Buffer): Promise<void> {
	return pipeline(Readable.from([bytes]), addEntry(tar, name, bytes.length));
}

/** A stored file that is not as its document says. */
function blobError({ hash, document }: SnapshotBlob, problem: string): AppError {
	const remedy = 'Bring the file back from an earlier backup, or delete the document';
	return new AppError('unavailable', `The file ${blobPath(hash)} of the document ${document} ${problem}. ${remedy}.`);
}
