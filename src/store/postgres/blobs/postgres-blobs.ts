import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { AppError, type Log, messageOf, PeriodicTask, ResourceShortage, Semaphore } from '../../../base/index.ts';
import { BlobDigest } from '../../blob-digest.ts';
import type { BlobSource, BlobStore, IncomingBlob } from '../../blobs.ts';
import { UploadLimit } from '../../upload-limit.ts';
import { connectionOptions, endOf } from '../connection.ts';
import { type Sql, sqlOf } from '../sql.ts';
import { BlobLocks } from './blob-locks.ts';
import { ChunkBuffer } from './chunk-buffer.ts';
import { TemporaryFiles } from './temporary-files.ts';

export interface PostgresBlobsOptions {
	url: string;
	log: Log;
	/** Has copies of files while they are parsed. It is of this process alone. Default: a new folder of the system. */
	temporaryFolder?: string | undefined;
	/** Concurrent uploads. */
	maxReceiving?: number | undefined;
	/** How long a task about a blob waits for another node (ms). */
	lockDeadlineMs?: number | undefined;
}

/** Chunks that are written or read at once: each takes a connection, and memory for its message. */
const TRANSFER_CONNECTIONS = 4;
/** An upload to which nothing is added for so long is removed (ms): its node has ended. */
const UPLOAD_LIFETIME_MS = 3_600_000;
const SWEEP_INTERVAL_MS = 600_000;
/** Uploads that one statement of a sweep removes. */
const SWEEP_LIMIT = 10;
const LIST_PAGE = 1_000;
const PROBE_BYTES = 256 * 1024;

/** Opens the files of a database whose schema is up to date. */
export async function openPostgresBlobs(options: PostgresBlobsOptions): Promise<PostgresBlobs> {
	return new PostgresBlobs(await TemporaryFiles.open(options.temporaryFolder), options);
}

/** Uploaded files in PostgreSQL, in chunks. Only `read` has a whole file in memory. */
export class PostgresBlobs implements BlobStore, AsyncDisposable {
	readonly #pool: Pool;
	readonly #sql: Sql;
	/** Transfers wait here and not for the pool, which gives up after some seconds. */
	readonly #transfers = new Semaphore(TRANSFER_CONNECTIONS, Number.POSITIVE_INFINITY);
	readonly #locks: BlobLocks;
	readonly #limit: UploadLimit;
	readonly #files: TemporaryFiles;
	readonly #sweep: PeriodicTask;
	readonly #log: Log;

	constructor(files: TemporaryFiles, { url, log, maxReceiving, lockDeadlineMs }: PostgresBlobsOptions) {
		this.#files = files;
		this.#log = log;
		this.#pool = new Pool({ ...connectionOptions(url), max: TRANSFER_CONNECTIONS });
		this.#pool.on('error', (err) => log.warn({ err }, 'a connection to the database was lost'));
		this.#sql = sqlOf(this.#pool);
		this.#locks = new BlobLocks(url, log, lockDeadlineMs);
		this.#limit = new UploadLimit(maxReceiving);
		this.#sweep = new PeriodicTask({
			intervalMs: SWEEP_INTERVAL_MS,
			run: (signal) => this.#removeExpired(signal),
			onFailure: (error) => log.warn({ error: messageOf(error) }, 'incomplete uploads could not be removed'),
		});
		this.#sweep.start();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#sweep[Symbol.asyncDispose]();
		await this.#locks[Symbol.asyncDispose]();
		await endOf(this.#pool);
		await this.#files[Symbol.asyncDispose]();
	}

	receive(source: BlobSource): Promise<IncomingBlob> {
		return this.#limit.run(() => this.#receive(source));
	}

	exclusive<T>(hash: string, task: () => Promise<T>): Promise<T> {
		return this.#locks.run(hash, task);
	}

	async probe(): Promise<void> {
		const values = { content: `probe ${randomUUID()}`, bytes: Buffer.alloc(PROBE_BYTES) };
		await this.#transfer((sql) => sql.run('SELECT probe_blobs(@content, @bytes)', values));
	}

	async read(hash: string): Promise<Buffer | undefined> {
		const chunks: Buffer[] = [];
		try {
			for await (const chunk of this.#chunksOf(hash)) chunks.push(chunk);
		} catch (error) {
			if (error instanceof RemovedBlobError) return undefined;
			throw error;
		}
		return Buffer.concat(chunks);
	}

	/** The file is a copy, which ends with the task. A database that cannot be read is no fault of the task. */
	withFile<T>(hash: string, task: (path: string) => Promise<T>): Promise<T> {
		return this.#files.run(asShortage(this.#chunksOf(hash)), task);
	}

	async *list(): AsyncGenerator<string> {
		for (let after = ''; ; ) {
			const rows = await this.#transfer((sql) =>
				sql.all<{ hash: string }>('SELECT hash FROM blobs WHERE hash > @after ORDER BY hash LIMIT @limit', {
					after,
					limit: LIST_PAGE,
				}),
			);
			for (const { hash } of rows) yield hash;
			const last = rows.at(-1);
			if (last === undefined) return;
			after = last.hash;
		}
	}

	async remove(hash: string): Promise<void> {
		await this.#transfer((sql) => sql.run('SELECT remove_blob(@hash)', { hash }));
	}

	async #receive(source: BlobSource): Promise<IncomingBlob> {
		const content = randomUUID();
		const digest = new BlobDigest();
		const chunks = new ChunkBuffer(async (bytes, number) => {
			const values = { content, number, bytes, lifetime_ms: UPLOAD_LIFETIME_MS };
			await this.#transfer((sql) => sql.run('SELECT add_blob_chunk(@content, @number, @bytes, @lifetime_ms)', values));
		});
		try {
			for await (const piece of source as AsyncIterable<Uint8Array>) {
				digest.update(piece);
				await chunks.add(piece);
			}
			await chunks.end();
		} catch (error) {
			await this.#discard(content);
			throw error;
		}
		const received = digest.end();
		const { hash, size } = received;
		return {
			...received,
			persist: async () => {
				await this.#transfer((sql) => sql.run('SELECT persist_blob(@content, @hash, @size)', { content, hash, size }));
			},
			discard: () => this.#discard(content),
		};
	}

	/** If it fails, the sweep does it later. */
	async #discard(content: string): Promise<void> {
		try {
			await this.#transfer((sql) => sql.run('SELECT discard_upload(@content)', { content }));
		} catch (error) {
			this.#log.warn({ error: messageOf(error) }, 'an incomplete upload could not be removed');
		}
	}

	async #removeExpired(signal: AbortSignal): Promise<void> {
		for (let removed = SWEEP_LIMIT; removed === SWEEP_LIMIT && !signal.aborted; ) {
			const row = await this.#transfer((sql) =>
				sql.get<{ removed: number }>('SELECT remove_expired_uploads(@most) AS removed', { most: SWEEP_LIMIT }),
			);
			removed = row?.removed ?? 0;
		}
	}

	/** @throws RemovedBlobError, also while it is read */
	async *#chunksOf(hash: string): AsyncGenerator<Buffer> {
		const blob = await this.#transfer((sql) =>
			sql.get<{ content: string; size: number }>('SELECT content, size FROM blobs WHERE hash = @hash', { hash }),
		);
		if (blob === undefined) throw new RemovedBlobError(hash);
		for (let number = 0, rest = blob.size; rest > 0; number++) {
			const values = { content: blob.content, number };
			const chunk = await this.#transfer((sql) =>
				sql.get<{ bytes: Buffer }>(
					'SELECT bytes FROM blob_chunks WHERE content = @content AND number = @number',
					values,
				),
			);
			if (chunk === undefined) throw new RemovedBlobError(hash);
			rest -= chunk.bytes.length;
			yield chunk.bytes;
		}
	}

	/** @throws AppError `unavailable` */
	async #transfer<T>(task: (sql: Sql) => Promise<T>): Promise<T> {
		return this.#transfers.run(async () => {
			try {
				return await task(this.#sql);
			} catch (cause) {
				throw new AppError('unavailable', 'The database cannot store or read files now.', { retry_after: 5, cause });
			}
		});
	}
}

/** A blob is not stored, or not any more. */
class RemovedBlobError extends Error {
	constructor(hash: string) {
		super(`The file ${hash} is not stored any more.`);
	}
}

/** Errors of the database, as shortages: a task that reads them is repeated until it succeeds. */
async function* asShortage(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	try {
		yield* bytes;
	} catch (error) {
		throw error instanceof AppError ? new ResourceShortage('The database cannot be read.', error) : error;
	}
}
