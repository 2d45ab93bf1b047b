import pg from 'pg';
import { AppError, KeyedLock, type Log, Semaphore } from '../../../base/index.ts';
import { connectionOptions, endOf } from '../connection.ts';

/** Locks that a node holds at once: each takes a connection. */
const LOCK_CONNECTIONS = 8;
/** How long a task waits for another node (ms). */
const DEADLINE_MS = 15_000;
/** The error of PostgreSQL after `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_KEY = "hashtextextended(concat('blob ', $1::text), 0)";

/**
 * Locks of blobs that other nodes respect: advisory locks of PostgreSQL. A lock belongs to its connection, so it ends when the node
 * does. The connections are none of those that a task needs, so tasks never wait for each other's locks in a circle.
 */
export class BlobLocks implements AsyncDisposable {
	readonly #pool: pg.Pool;
	readonly #local = new KeyedLock();
	readonly #connections = new Semaphore(LOCK_CONNECTIONS, Number.POSITIVE_INFINITY);

	/** @param deadlineMs how long a task waits for another node */
	constructor(url: string, log: Log, deadlineMs = DEADLINE_MS) {
		const { options, ...others } = connectionOptions(url);
		this.#pool = new pg.Pool({
			...others,
			options: `${options} -c lock_timeout=${deadlineMs}`,
			max: LOCK_CONNECTIONS,
		});
		this.#pool.on('error', (err) => log.warn({ err }, 'a connection to the database was lost'));
	}

	/**
	 * Runs one task at a time for a blob, on all nodes together.
	 * @throws AppError `unavailable` when another node does not end its task in time, or the lock was lost with its connection
	 */
	run<T>(hash: string, task: () => Promise<T>): Promise<T> {
		return this.#local.run(hash, () => this.#connections.run(() => this.#locked(hash, task)));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await endOf(this.#pool);
	}

	async #locked<T>(hash: string, task: () => Promise<T>): Promise<T> {
		const client = await this.#acquire(hash);
		let result: T;
		try {
			result = await task();
		} catch (error) {
			await this.#release(client, hash);
			throw error;
		}
		if (await this.#release(client, hash)) return result;
		// Another node may have removed what this task refers to.
		throw new AppError('unavailable', 'The connection to the database was lost. Try again.', { retry_after: 5 });
	}

	async #acquire(hash: string): Promise<pg.PoolClient> {
		try {
			const client = await this.#pool.connect();
			// The loss of a connection that is in use is an event as well. The next statement finds it.
			client.on('error', ignore);
			try {
				await client.query(`SELECT pg_advisory_lock(${LOCK_KEY})`, [hash]);
				return client;
			} catch (error) {
				client.off('error', ignore);
				client.release(true);
				throw error;
			}
		} catch (cause) {
			const isHeld = cause instanceof pg.DatabaseError && cause.code === LOCK_NOT_AVAILABLE;
			const message = isHeld ? 'Another server is changing the same file.' : 'The database does not answer.';
			throw new AppError('unavailable', message, { retry_after: isHeld ? 1 : 5, cause });
		}
	}

	/** @returns whether the lock was held until now */
	async #release(client: pg.PoolClient, hash: string): Promise<boolean> {
		const isHeld = await client
			.query<{ held: boolean }>(`SELECT pg_advisory_unlock(${LOCK_KEY}) AS held`, [hash])
			.then(({ rows }) => rows[0]?.held === true)
			.catch(() => false);
		client.off('error', ignore);
		client.release(!isHeld);
		return isHeld;
	}
}

function ignore(): void {}
