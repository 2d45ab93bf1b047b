import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, descriptorShares, fsyncFolder, KeyedLock, makeDurableFolder } from '../base/index.ts';

/** Received bytes that no record refers to yet. Persist or discard them. */
export interface IncomingBlob {
	/** SHA-256 of the bytes, hexadecimal: the name of the persisted blob. */
	hash: string;
	size: number;
	/** The first bytes (at most 64 KiB), to detect the format. */
	head: Buffer;
	/** Moves it to its final path, durably. The same bytes persisted twice are one blob. */
	persist(): Promise<void>;
	/** Deletes it, unless it was persisted. */
	discard(): Promise<void>;
}

const HEAD_BYTES = 64 * 1024;
/** Upper limit of concurrent uploads: the head of each is in memory. */
const MAX_RECEIVING = 1_024;
/** Free space that ends a full-disk problem: enough for small uploads and commits. */
const PROBE_BYTES = 1024 * 1024;

/** Files by the SHA-256 of their content, in a folder of the data directory. */
export class BlobStore {
	readonly #folder: string;
	readonly #incomingFolder: string;
	readonly #locks = new KeyedLock();
	readonly #onFailure: (error: unknown) => void;
	readonly #maxReceiving: number;
	#receiving = 0;

	/**
	 * @param onFailure receives each error of a write
	 * @param maxReceiving concurrent uploads: each is an open file for as long as its sender takes
	 */
	constructor(
		folder: string,
		onFailure: (error: unknown) => void = () => {},
		maxReceiving = Math.min(descriptorShares().uploads, MAX_RECEIVING),
	) {
		this.#onFailure = onFailure;
		this.#maxReceiving = maxReceiving;
		this.#folder = folder;
		this.#incomingFolder = join(folder, 'incoming');
	}

	/**
	 * Makes the folders. The only owner also deletes the incomplete uploads of an earlier process; beside a running server
	 * these are the server's current uploads.
	 */
	async prepare({ isOnlyOwner }: { isOnlyOwner: boolean }): Promise<void> {
		makeDurableFolder(this.#incomingFolder);
		await fsyncFolder(dirname(this.#folder));
		if (!isOnlyOwner) return;
		for (const name of await readdir(this.#incomingFolder)) await rm(join(this.#incomingFolder, name), { force: true });
	}

	/** The path of a persisted blob. */
	path(hash: string): string {
		return join(this.#folder, hash.slice(0, 2), hash);
	}

	/**
	 * Streams bytes to disk and hashes them on the way. A failure leaves nothing behind.
	 * @throws AppError `unavailable` when too many uploads are running, or the disk fails
	 */
	async receive(source: Readable | AsyncIterable<Uint8Array>): Promise<IncomingBlob> {
		if (this.#receiving >= this.#maxReceiving) {
			throw new AppError('unavailable', 'Too many files are being received at once. Try again.', { retry_after: 5 });
		}
		this.#receiving++;
		try {
			return await this.#receive(source);
		} finally {
			this.#receiving--;
		}
	}

	async #receive(source: Readable | AsyncIterable<Uint8Array>): Promise<IncomingBlob> {
		const temporary = join(this.#incomingFolder, randomUUID());
		const hash = createHash('sha256');
		const head: Buffer[] = [];
		let size = 0;
		let headSize = 0;
		async function* hashing(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
			for await (const chunk of chunks) {
				hash.update(chunk);
				size += chunk.length;
				if (headSize < HEAD_BYTES) {
					head.push(Buffer.from(chunk.subarray(0, HEAD_BYTES - headSize)));
					headSize = Math.min(HEAD_BYTES, headSize + chunk.length);
				}
				yield chunk;
			}
		}
		try {
			// flush: the bytes are on disk before the stream finishes.
			await pipeline(source, hashing, createWriteStream(temporary, { flags: 'wx', flush: true, mode: 0o600 }));
		} catch (error) {
			await rm(temporary, { force: true });
			throw this.#diskError(error);
		}
		const name = hash.digest('hex');
		const target = this.path(name);
		return {
			hash: name,
			size,
			head: Buffer.concat(head),
			persist: () => moveDurably(temporary, target).catch((error: unknown) => Promise.reject(this.#diskError(error))),
			discard: () => rm(temporary, { force: true }),
		};
	}

	/**
	 * Runs one task at a time for one blob. One task persists the bytes and commits a record that refers to them; another
	 * finds that no record refers to them and removes them. Without the lock a removal could delete a new upload of the same bytes.
	 */
	exclusive<T>(hash: string, task: () => Promise<T>): Promise<T> {
		return this.#locks.run(hash, task);
	}

	/** Writes a file durably and removes it; rejects when that fails. */
	async probe(): Promise<void> {
		const path = join(this.#incomingFolder, `probe-${randomUUID()}`);
		try {
			await writeFile(path, Buffer.alloc(PROBE_BYTES), { flag: 'wx', flush: true, mode: 0o600 });
		} finally {
			await rm(path, { force: true });
		}
	}

	/** The error for a failure of the store's files. Errors of the source pass unchanged. */
	#diskError(error: unknown): unknown {
		const isFileSystemError = error instanceof Error && typeof (error as NodeJS.ErrnoException).path === 'string';
		const isDiskFull = (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
		if (!isFileSystemError && !isDiskFull) return error;
		this.#onFailure(error);
		return new AppError('unavailable', 'The file could not be written to disk.', { retry_after: 5, cause: error });
	}

	/** The bytes of a persisted blob; undefined if it was removed. */
	async read(hash: string): Promise<Buffer | undefined> {
		try {
			return await readFile(this.path(hash));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
			throw error;
		}
	}

	/** The hashes of all persisted blobs. */
	async *list(): AsyncGenerator<string> {
		for (const shard of await readdir(this.#folder)) {
			if (shard.length === 2) yield* await readdir(join(this.#folder, shard));
		}
	}

	async remove(hash: string): Promise<void> {
		await rm(this.path(hash), { force: true });
	}
}

async function moveDurably(from: string, to: string): Promise<void> {
	const shard = dirname(to);
	await mkdir(shard, { recursive: true });
	await rename(from, to);
	await fsyncFolder(shard);
	// Also when the folder exists: the call that made it may not have synced it yet.
	await fsyncFolder(dirname(shard));
}
