import { Pool } from 'pg';
import { AppError, createLog, type Log, newId, withDeadline } from '../../base/index.ts';
import type { BlobStore } from '../blobs.ts';
import type { Commit, CommitOutcome, StoredEvent } from '../commit.ts';
import { type Jobs, type Store, TAKEN_OVER_MESSAGE } from '../store.ts';
import { CommitQueue } from './commit-queue.ts';
import { connectionOptions } from './connection.ts';
import { migrate } from './migrate.ts';
import { PostgresReaders } from './readers.ts';
import { sqlOf } from './sql.ts';
import { type Fence, WriterSession } from './writer-session.ts';

export interface PostgresStoreOptions {
	/** `postgres://…`, with TLS options as its query. */
	url: string;
	/** Called when another server has taken over: nothing can be written afterwards. */
	onFailure?: (error: Error) => void;
	log?: Log;
}

/** Connections for readers. */
const READER_CONNECTIONS = 8;
/** Commits that may wait for the database. Above it they are refused, so that a database that stalls cannot fill the memory. */
const MAX_PENDING_COMMITS = 20_000;
/** While the database cannot be reached for this long, new commits are refused (ms). Those that wait are still carried out. */
const MAX_DISCONNECTED_MS = 10_000;
/** Time for what waits when the store is closed (ms). */
const CLOSE_MS = 10_000;
const NOT_CLOSED =
	'The database does not answer: what waited was not stored. Acknowledged commits are in the database.';
/** The part of the database that one server owns. */
const SHARD = 'server';

/** Opens the store on PostgreSQL: brings its schema up to date, takes the fence, and connects the writer and the readers. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
	await migrate(options.url);
	const pool = new Pool({ ...connectionOptions(options.url), max: READER_CONNECTIONS });
	const log = options.log ?? createLog('silent');
	pool.on('error', (err) => log.warn({ err }, 'a connection to the database was lost'));
	try {
		const owner = `${process.pid}-${newId('request')}`;
		const fence = await takeFence(pool, owner);
		const session = new WriterSession(options.url, owner, fence, log);
		return new PostgresStore(pool, session, fence, options.onFailure ?? (() => {}));
	} catch (error) {
		await pool.end();
		throw error;
	}
}

/** Takes the shard for a new owner. Commits of the previous owner are fenced from now on. */
async function takeFence(pool: Pool, owner: string): Promise<Fence> {
	const row = await sqlOf(pool).get<{ epoch: number }>(
		`INSERT INTO fences AS f (shard, owner, epoch) VALUES (@shard, @owner, 1)
		 ON CONFLICT (shard) DO UPDATE SET owner = excluded.owner, epoch = f.epoch + 1 RETURNING epoch`,
		{ shard: SHARD, owner },
	);
	return { shard: SHARD, owner, epoch: row?.epoch ?? 0 };
}

/** The store on PostgreSQL. `openPostgresStore` makes it. */
export class PostgresStore extends PostgresReaders implements Store {
	readonly fence: Fence;
	readonly jobs: Jobs;
	readonly #pool: Pool;
	readonly #session: WriterSession;
	readonly #queue: CommitQueue;
	readonly #onFailure: (error: Error) => void;
	readonly #listeners = new Set<(events: StoredEvent[]) => void>();
	readonly #commitListeners = new Set<(commit: Commit) => void>();
	#isClosing = false;
	#isFenced = false;

	constructor(pool: Pool, session: WriterSession, fence: Fence, onFailure: (error: Error) => void) {
		super(sqlOf(pool));
		this.#pool = pool;
		this.#session = session;
		this.fence = fence;
		this.#onFailure = onFailure;
		this.#queue = new CommitQueue(session, (commit, outcome) => this.#publish(commit, outcome));
		const sql = sqlOf(pool);
		this.jobs = {
			claim: (kind, limit, leaseMs) => this.#refuseOr(() => this.#queue.claim(kind, limit, leaseMs)),
			isClaimed: async (id) =>
				(await sql.get('SELECT 1 FROM jobs WHERE id = @id AND lease_until > 0', { id })) !== undefined,
		};
	}

	get blobs(): BlobStore {
		throw new Error('The store on PostgreSQL has no blobs.');
	}

	commit(commit: Commit): Promise<CommitOutcome> {
		return this.#refuseOr(() => this.#queue.commit(commit));
	}

	/** PostgreSQL overwrites what was deleted by itself: its vacuum frees the rows, and its log is recycled. */
	async overwriteErased(): Promise<void> {}

	isWritable(): boolean {
		return !this.#isClosing && !this.#isFenced && this.#session.disconnectedMs === 0;
	}

	isBackupRunning(): boolean {
		return false;
	}

	onEvents(listener: (events: StoredEvent[]) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	onCommits(listener: (commit: Commit) => void): () => void {
		this.#commitListeners.add(listener);
		return () => this.#commitListeners.delete(listener);
	}

	/** @throws AppError `unavailable` when the database does not answer in time */
	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#isClosing) return;
		this.#isClosing = true;
		const drained = withDeadline(this.#queue.drain(), CLOSE_MS, () => new AppError('unavailable', NOT_CLOSED));
		try {
			await drained;
		} finally {
			await this.#session.close();
			await this.#pool.end();
		}
	}

	/** @throws AppError `unavailable` when the database refuses the change, or cannot be reached */
	async #refuseOr<T>(submit: () => Promise<T>): Promise<T> {
		if (this.#isClosing) throw new AppError('unavailable', 'The database is closed.');
		if (this.#queue.size >= MAX_PENDING_COMMITS || this.#session.disconnectedMs > MAX_DISCONNECTED_MS) {
			throw new AppError('unavailable', 'The database does not answer.', { retry_after: 1 });
		}
		try {
			return await submit();
		} catch (error) {
			throw new AppError('unavailable', 'The change could not be stored.', { retry_after: 5, cause: error });
		}
	}

	/** Calls listeners in commit order, before the committing caller continues. */
	#publish(commit: Commit, outcome: CommitOutcome): void {
		if (outcome.outcome === 'fenced') this.#recordFenced();
		if (outcome.outcome !== 'committed') return;
		for (const listener of this.#commitListeners) listener(commit);
		if (!commit.events?.length) return;
		const events = commit.events.map((event, index) => ({ ...event, seq: outcome.seqs[index] as number }));
		for (const listener of this.#listeners) listener(events);
	}

	#recordFenced(): void {
		if (this.#isFenced) return;
		this.#isFenced = true;
		this.#onFailure(new Error(TAKEN_OVER_MESSAGE));
	}
}
