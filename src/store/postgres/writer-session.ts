import pg from 'pg';
import { type Log, newId, sleep, withDeadline } from '../../base/index.ts';
import { connectionOptions, endOf } from './connection.ts';
import { SUPERSEDED } from './functions/commit.ts';
import { FailedCommitError } from './outcomes.ts';
import { type Sql, sqlOf } from './sql.ts';

/** Names a batch to the functions of the database. */
export interface BatchKey {
	writer: string;
	session: string;
	/** Of the node. */
	epoch: number;
	batch: number;
}

interface Connection {
	client: pg.Client;
	sql: Sql;
	/** Its token in the writer's row. */
	session: string;
}

const RETRY_MS = 100;
const MAX_RETRY_MS = 1_000;
/** Attempts at a batch that a deadlock has undone. */
const MAX_ATTEMPTS = 20;
/** Errors after which the transaction is known to be undone and may be repeated: serialization failure, deadlock. */
const REPEATABLE = new Set(['40001', '40P01']);

const UNREACHABLE = 'The database could not be reached.';

/** The database is closed: nothing more is written. */
export class ClosedError extends Error {}

/** The batch was not carried out, and never will be: there was no connection for too long. */
export class UnreachableError extends Error {}

/** Times in ms. */
export interface WriterLimits {
	/** PostgreSQL refuses a statement that takes longer. */
	statementMs: number;
	/** PostgreSQL refuses a statement that waits longer for a lock. */
	lockMs: number;
	/** A connection that answers nothing for so long is given up: longer than a statement, so that it is silent. */
	silentMs: number;
	/** What was not carried out in so long is refused: its client has given up, or will repeat it. */
	waitMs: number;
}

export interface WriterSessionOptions {
	url: string;
	/** Of the node. */
	id: string;
	/** Of the node. */
	epoch: number;
	log: Log;
	limits: WriterLimits;
}

/**
 * The connection of a writer. A batch is carried out once although connections die: the database keeps the number and the result of
 * the last batch in the writer's row, which every batch locks. A new connection first gives that row another session. It waits for the
 * lock, so afterwards the last batch is known to be committed, or can never be.
 */
export class WriterSession {
	readonly #url: string;
	readonly #id: string;
	readonly #epoch: number;
	readonly #log: Log;
	readonly limits: WriterLimits;
	#connection: Connection | null = null;
	#connecting: Promise<void> | null = null;
	/** What the database kept of the last batch when the connection was made. */
	#kept: { batch: number; outcomes: unknown } | null = null;
	#batch = 0;
	#isClosed = false;
	readonly #closing = new AbortController();
	/** Since when there is no connection; null: there is one, or none was needed. */
	#disconnectedAt: number | null = null;

	constructor({ url, id, epoch, log, limits }: WriterSessionOptions) {
		this.#url = url;
		this.#id = id;
		this.#epoch = epoch;
		this.#log = log;
		this.limits = limits;
	}

	/** For how long there has been no connection (ms); 0: there is one. */
	get disconnectedMs(): number {
		return this.#disconnectedAt === null ? 0 : performance.now() - this.#disconnectedAt;
	}

	/**
	 * Carries out one batch, in one transaction that ends with `end_batch`.
	 * @param perform sends the batch. It may be called again after the transaction was undone.
	 * @returns its result, or what the database kept of it when the answer was lost
	 * @throws pg.DatabaseError, FailedCommitError when it was refused, UnreachableError when there was no connection for too long: nothing was
	 * written
	 */
	async run<T>(perform: (sql: Sql, key: BatchKey) => Promise<T>): Promise<T> {
		const batch = ++this.#batch;
		const startedAt = performance.now();
		let isSent = false;
		let isLost = false;
		for (let attempt = 1; ; ) {
			while (this.#connection === null) await (isSent ? this.#connect() : this.#connectInTime());
			if (this.#kept?.batch === batch) return this.#kept.outcomes as T;
			// What was sent on the former connection can no longer be carried out.
			if (isLost && performance.now() - startedAt > this.limits.waitMs) throw new UnreachableError(UNREACHABLE);
			const connection: Connection = this.#connection;
			const { sql, session } = connection;
			isSent = true;
			try {
				return await perform(sql, { writer: this.#id, session, epoch: this.#epoch, batch });
			} catch (error) {
				if (!isRefusal(error)) {
					isLost = true;
					this.#disconnect(connection, error);
				} else if (!REPEATABLE.has(error.code ?? '') || ++attempt > MAX_ATTEMPTS) throw error;
				else await sleep(Math.random() * 10 * attempt);
			}
		}
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		this.#closing.abort();
		const connection = this.#connection;
		this.#connection = null;
		if (connection !== null) await endOf(connection.client);
	}

	/** Connects, however long it takes. @throws ClosedError */
	#connect(): Promise<void> {
		this.#connecting ??= this.#openUntilConnected().finally(() => {
			this.#connecting = null;
		});
		return this.#connecting;
	}

	/** @throws UnreachableError, ClosedError */
	#connectInTime(): Promise<void> {
		const leftMs = this.limits.waitMs - this.disconnectedMs;
		return withDeadline(this.#connect(), leftMs, () => new UnreachableError(UNREACHABLE));
	}

	async #openUntilConnected(): Promise<void> {
		for (let delay = RETRY_MS; this.#connection === null; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
			if (this.#isClosed) throw new ClosedError('The database is closed.');
			try {
				await this.#open();
			} catch (error) {
				this.#disconnectedAt ??= performance.now();
				this.#log.warn({ err: error }, 'the database cannot be reached: the writer tries again');
				await sleep(delay, this.#closing.signal);
			}
		}
	}

	async #open(): Promise<void> {
		const client = new pg.Client({ ...connectionOptions(this.#url, this.limits), query_timeout: this.limits.silentMs });
		client.on('error', (error) => {
			if (this.#connection?.client === client) this.#disconnect(this.#connection, error);
		});
		try {
			await client.connect();
			const sql = sqlOf(client);
			const session = newId('request');
			const last = await sql.get<{ batch: number; outcomes: unknown }>(
				`INSERT INTO writers AS w (id, session, batch, updated_at) VALUES (@id, @session, 0, clock_timestamp())
				 ON CONFLICT (id) DO UPDATE SET session = excluded.session, updated_at = excluded.updated_at RETURNING batch, outcomes`,
				{ id: this.#id, session },
			);
			if (this.#isClosed) throw new ClosedError('The database is closed.');
			this.#connection = { client, sql, session };
			this.#disconnectedAt = null;
			this.#kept = last ?? null;
		} catch (error) {
			void client.end().catch(() => {});
			throw error;
		}
	}

	#disconnect(connection: Connection, error: unknown): void {
		// It may have been replaced before its last statement fails.
		if (this.#connection !== connection) return;
		this.#connection = null;
		this.#disconnectedAt = performance.now();
		this.#log.warn({ err: error }, 'the connection to the database was lost');
		void connection.client.end().catch(() => {});
		// At once, not with the next commit: a server without the database gets none.
		if (!this.#isClosed) this.#connect().catch(() => {});
	}
}

/** An error after which the connection goes on, and the transaction is undone. */
function isRefusal(error: unknown): error is pg.DatabaseError | FailedCommitError {
	if (error instanceof FailedCommitError) return true;
	return error instanceof pg.DatabaseError && error.severity === 'ERROR' && error.code !== SUPERSEDED;
}
