import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, fsyncFolder, KeyedLock, makeDurableFolder } from '../../base/index.ts';
import { BlobDigest } from '../blob-digest.ts';
import type { BlobSource, BlobStore, IncomingBlob } from '../blobs.ts';
import { UploadLimit } from '../upload-limit.ts';

/** Free space that ends a full-disk problem: enough for small uploads and commits. */
const PROBE_BYTES = 1024 * 1024;

/** System calls on an open file. Their errors have no path. */
const FILE_CALLS = new Set(['write', 'writev', 'fsync', 'close']);

/** Files by the SHA-256 of their content, in a folder of the data directory. */
export class FileBlobs implements BlobStore {
	readonly #folder: string;
	readonly #incomingFolder: string;
	readonly #locks = new KeyedLock();
	readonly #onFailure: (error: unknown) => void;
	readonly #limit: UploadLimit;

	/**
	 * @param onFailure receives each error of a write
	 * @param maxReceiving concurrent uploads: each is an open file for as long as its sender takes
	 */
	constructor(folder: string, onFailure: (error: unknown) => void = () => {}, maxReceiving?: number) {
		this.#onFailure = onFailure;
		this.#limit = new UploadLimit(maxReceiving);
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

	/** The file is the blob itself. */
	withFile<T>(hash: string, task: (path: string) => Promise<T>): Promise<T> {
		return task(this.path(hash));
	}

	receive(source: BlobSource): Promise<IncomingBlob> {
		return this.#limit.run(() => this.#receive(source));
	}

	async #receive(source: BlobSource): Promise<IncomingBlob> {
		const temporary = join(this.#incomingFolder, randomUUID());
		const digest = new BlobDigest();
		async function* hashing(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
			for await (const piece of pieces) {
				digest.update(piece);
				yield piece;
			}
		}
		let written: Promise<void> | undefined;
		const write = (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
			written = writeDurably(temporary, pieces);
			return written;
		};
		try {
			await pipeline(source, hashing, write);
		} catch (error) {
			// The error of a stream ends the pipeline at once, perhaps while the file is still being opened or written.
			await written?.catch(() => {});
			await rm(temporary, { force: true }).catch(() => {});
			throw this.#diskError(error);
		}
		const received = digest.end();
		const target = this.path(received.hash);
		return {
			...received,
			persist: () => moveDurably(temporary, target).catch((error: unknown) => Promise.reject(this.#diskError(error))),
			discard: () => rm(temporary, { force: true }),
		};
	}

	/** One process owns the folder: a lock in its memory is enough. */
	exclusive<T>(hash: string, task: () => Promise<T>): Promise<T> {
		return this.#locks.run(hash, task);
	}

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
		const { syscall = '', path } = (error ?? {}) as NodeJS.ErrnoException;
		if (!FILE_CALLS.has(syscall) && typeof path !== 'string') return error;
		this.#onFailure(error);
		return new AppError('unavailable', 'The file could not be written to disk.', { retry_after: 5, cause: error });
	}

	async read(hash: string): Promise<Buffer | undefined> {
		try {
			return await readFile(this.path(hash));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
			throw error;
		}
	}

	async *list(): AsyncGenerator<string> {
		for (const shard of await readdir(this.#folder)) {
			if (shard.length === 2) yield* await readdir(join(this.#folder, shard));
		}
	}

	async remove(hash: string): Promise<void> {
		await rm(this.path(hash), { force: true });
	}
}

/** Writes a new file and flushes it. A file whose bytes end with an error is not flushed: commits would wait for the disk meanwhile. */
async function writeDurably(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
	const file = await open(path, 'wx', 0o600);
	try {
		// Each call writes a whole piece, after the previous one.
		for await (const piece of pieces) await file.writeFile(piece);
		await file.sync();
	} catch (error) {
		await file.close().catch(() => {});
		throw error;
	}
	await file.close();
}

async function moveDurably(from: string, to: string): Promise<void> {
	const shard = dirname(to);
	await mkdir(shard, { recursive: true });
	await rename(from, to);
	await fsyncFolder(shard);
	// Also when the folder exists: the call that made it may not have synced it yet.
	await fsyncFolder(dirname(shard));
}
