import type { Readable } from 'node:stream';

/** Bytes that arrive. */
export type BlobSource = Readable | AsyncIterable<Uint8Array>;

/** Received bytes that no record refers to yet. Persist or discard them. */
export interface IncomingBlob {
	/** SHA-256 of the bytes, hexadecimal: the name of the persisted blob. */
	hash: string;
	size: number;
	/** The first bytes (at most 64 KiB), to detect the format. */
	head: Buffer;
	/** Stores it under its hash, durably. The same bytes persisted twice are one blob. */
	persist(): Promise<void>;
	/** Deletes it, unless it was persisted. */
	discard(): Promise<void>;
}

/** Uploaded files, each by the SHA-256 of its bytes. */
export interface BlobStore {
	/**
	 * Stores bytes while they arrive, and hashes them on the way. A failure leaves nothing behind. Errors of the source pass unchanged.
	 * It asks for the next piece only when it has finished with the one before.
	 * @throws AppError `unavailable` when too many uploads are running, or the bytes cannot be stored
	 */
	receive(source: BlobSource): Promise<IncomingBlob>;
	/**
	 * Runs one task at a time for one blob, also beside other servers on the same store. One task persists the bytes and commits a
	 * record that refers to them; another finds that no record refers to them and removes them. Without the lock a removal could
	 * delete a new upload of the same bytes.
	 */
	exclusive<T>(hash: string, task: () => Promise<T>): Promise<T>;
	/** Writes bytes durably and removes them; rejects when that fails. */
	probe(): Promise<void>;
	/** The bytes of a persisted blob; undefined if it was removed. */
	read(hash: string): Promise<Buffer | undefined>;
	/**
	 * Runs a task with the path of a local file that has the bytes of a persisted blob. The file may end with the task; the task must
	 * not change it. Rejects if the blob was removed.
	 */
	withFile<T>(hash: string, task: (path: string) => Promise<T>): Promise<T>;
	/** The hashes of all persisted blobs. */
	list(): AsyncIterable<string>;
	remove(hash: string): Promise<void>;
}
