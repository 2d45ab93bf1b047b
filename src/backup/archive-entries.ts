import { type Pack, pack } from 'tar-stream';

/**
 * An archive is a tar (ustar) of regular files in this order: the manifest, the checksums of manifest and database, the database, and the
 * blobs in ascending order of their hashes, at the paths that they have in a data folder. Blobs are named by their SHA-256. Every header is
 * determined by name and size, so the reader accepts exactly the bytes that the writer writes, and nothing else that a tar may contain.
 */
export const MANIFEST = 'manifest.json';
export const CHECKSUMS = 'SHA256SUMS';
export const DATABASE = 'parley.db';

/** The size of a header, and the unit of contents. */
export const BLOCK_BYTES = 512;
/** Two blocks of zeros end a tar. */
export const END_BYTES = 2 * BLOCK_BYTES;

/** The path of a blob. */
export function blobPath(hash: string): string {
	return `blobs/${hash.slice(0, 2)}/${hash}`;
}

/** The hash of the blob at a path; null for another path. */
export function hashOfBlobPath(path: string): string | null {
	const hash = /^blobs\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(path)?.[1];
	return hash !== undefined && blobPath(hash) === path ? hash : null;
}

/** The checksums in the form that `sha256sum --check` reads. */
export function renderChecksums(manifestSha256: string, databaseSha256: string): Buffer {
	return Buffer.from(`${manifestSha256}  ${MANIFEST}\n${databaseSha256}  ${DATABASE}\n`);
}

/** Adds an entry to a tar; its content is written to the result. */
export function addEntry(tar: Pack, name: string, size: number): ReturnType<Pack['entry']> {
	return tar.entry({ name, size, mode: 0o600, uid: 0, gid: 0, mtime: new Date(0), type: 'file' });
}

/** The header of an entry. */
export async function renderHeader(name: string, size: number): Promise<Buffer> {
	const tar = pack();
	addEntry(tar, name, size).on('error', () => {});
	try {
		for await (const block of tar) return block as Buffer;
	} finally {
		tar.destroy();
	}
	throw new Error('A tar has no header.');
}

/** The bytes that fill the last block of a content. */
export function paddingOf(size: number): number {
	return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The space that an entry takes. */
export function entryBytes(size: number): number {
	return BLOCK_BYTES + size + paddingOf(size);
}
