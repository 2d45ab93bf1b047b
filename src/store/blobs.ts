import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, descriptorShares, fsyncFolder, KeyedLock, makeDurableFolder } from '../base/index.ts';

/** Bytes that were taken in but belong to nothing yet. Keep or discard them. */
export interface IncomingBlob {
	/** SHA-256 of the bytes, hexadecimal: the blob's name once kept. */
	hash: string;
	size: number;
	/** The first bytes (at most 64 KiB), to tell what it is. */
	head: Buffer;
	/** Moves it to its place, durably. Keeping the same bytes twice is one blob. */
	persist(): Promise<void>;
	/** Deletes it, unless it was kept. */
	discard(): Promise<void>;
}

const HEAD_BYTES = 64 * 1024;
/** The beginning of each is in memory. */
const MOST_RECEIVED = 1_024;
/** Room that must be there before a disk that was full counts as well again: small uploads and commits fit. */
const PROBE_BYTES = 1024 * 1024;

/** Files by the SHA-256 of their content, in a folder of the data directory. */
export class BlobStore {
	readonly #folder: string;
	readonly #incomingFolder: string;
	readonly #locks = new KeyedLock();
	readonly #onFailure: (error: unknown) => void;
	readonly #most: number;
	#receiving = 0;

	/**
	 * @param onFailure receives each error of a write
	 * @param most files that are received at once: each is an open file for as long as its sender takes
	 */
	constructor(
		folder: string,
		onFailure: (error: unknown) => void = () => {},
		most = Math.min(descriptorShares().uploads, MOST_RECEIVED),
	) {
		this.#onFailure = onFailure;
		this.#most = most;
		this.#folder = folder;
		this.#incomingFolder = join(folder, 'incoming');
	}

	/**
	 * Makes the folders and, for who has them alone, deletes what an earlier process left half received. Beside a running
	 * server that is what it is receiving.
	 */
	async prepare({ alone: isOnlyOwner }: { alone: boolean }): Promise<void> {
		makeDurableFolder(this.#incomingFolder);
		await fsyncFolder(dirname(this.#folder));
		if (!isOnlyOwner) return;
		for (const name of await readdir(this.#incomingFolder)) await rm(join(this.#incomingFolder, name), { force: true });
	}

	/** The path of a kept blob. */
	path(hash: string): string {
		return join(this.#folder, hash.slice(0, 2), hash);
	}

	/**
	 * Streams bytes to disk, hashing on the way. On failure nothing is left behind.
	 * @throws AppError `unavailable` where too many are received already, or the disk fails
	 */
	async receive(source: Readable | AsyncIterable<Uint8Array>): Promise<IncomingBlob> {
		if (this.#receiving >= this.#most) {
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
			// flush: the bytes are on disk before the stream says that it is finished.
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
	 * Runs one task at a time for one blob. Keeping bytes and committing what refers to them is one task, finding that nothing
	 * refers to them and removing them another: without this, a removal could take what was just uploaded again.
	 */
	exclusive<T>(hash: string, task: () => Promise<T>): Promise<T> {
		return this.#locks.run(hash, task);
	}

	/** Writes a file durably and removes it: rejects where that fails. */
	async probe(): Promise<void> {
		const path = join(this.#incomingFolder, `probe-${randomUUID()}`);
		try {
			await writeFile(path, Buffer.alloc(PROBE_BYTES), { flag: 'wx', flush: true, mode: 0o600 });
		} finally {
			await rm(path, { force: true });
		}
	}

	/** The answer for an error of our own files; errors of the source pass through unchanged. */
	#diskError(error: unknown): unknown {
		const isFileSystemError = error instanceof Error && typeof (error as NodeJS.ErrnoException).path === 'string';
		const isDiskFull = (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
		if (!isFileSystemError && !isDiskFull) return error;
		this.#onFailure(error);
		return new AppError('unavailable', 'The file could not be written to disk.', { retry_after: 5, cause: error });
	}

	/** The hashes of all kept blobs. */
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
	// Also where the folder was there: who made it may not have come this far yet.
	await fsyncFolder(dirname(shard));
}
