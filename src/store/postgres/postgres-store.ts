import { Pool } from 'pg';
import { AppError, createLog, type Log, withDeadline } from '../../base/index.ts';
import { callEach } from '../call-each.ts';
import type { Commit, CommitOutcome } from '../commit.ts';
import { type JobCounts, jobCountColumns, jobStates } from '../job-state.ts';
import type { CommitObserver, OpenedStore, StoreState } from '../opened-store.ts';
import { LEASE_MS, type PlacementStore } from '../placement.ts';
import type { SharedLimits } from '../shared-limits.ts';
import type { EventsListener, Jobs } from '../store.ts';
import { openPostgresBlobs, type PostgresBlobs } from './blobs/index.ts';
import { CommitQueue } from './commit-queue.ts';
import { connectionOptions, endOf } from './connection.ts';
import { isComposed } from './encode-commit.ts';
import { PostgresHints } from './hints.ts';
import { LogFollower } from './log-follower.ts';
import { migrate } from './migrate.ts';
import { exclusively } from './named-lock.ts';
import { Notifications } from './notifications.ts';
import { FailedCommitError } from './outcomes.ts';
import { joinCluster, leaveCluster, type NodeIdentity, PostgresPlacement } from './placement.ts';
import { PostgresReaders } from './readers.ts';
import { repeatingSql } from './repeating-sql.ts';
import { PostgresSharedLimits } from './shared-limits.ts';
import { type Sql, sqlOf } from './sql.ts';
import { excludeServers, requireCurrentSchema, toolIdentity } from './tool-access.ts';
import { vacuum } from './vacuum.ts';
import { type WriterLimits, WriterSession } from './writer-session.ts';

export interface PostgresStoreOptions {
	/** `postgres://…`, with TLS options as its query. */
	url: string;
	/** Where other nodes reach this one. */
	address?: string;
	/** How long the node counts as alive before it renews its lease (ms). */
	firstLeaseMs?: number;
	log?: Log;
	/** Receives the times of commits. */
	observer?: CommitObserver | undefined;
	/** This process may not go on: the schema has become too new for it, or its node was removed. */
	onExpelled?: (error: AppError) => void;
	/** Has copies of uploaded files while they are parsed. It is of this process alone. Default: a new folder of the system. */
	temporaryFolder?: string;
	/** Default: `node`. */
	role?: PostgresRole;
	/** Limits of writers, instead of the usual ones. */
	limits?: Partial<WriterLimits>;
}

/**
 * `node` brings the schema up to date and joins the cluster. A `tool` writes beside the nodes: it owns no shard and no job, follows no
 * log, and refuses another schema. An `exclusive_tool` also prevents that nodes run.
 */
export type PostgresRole = 'node' | 'tool' | 'exclusive_tool';

/** Connections for readers. */
const READER_CONNECTIONS = 8;
/** Connections for the lease and for the log of events: readers that take long must not delay them. */
const CLUSTER_CONNECTIONS = 2;
/** One of these connections that answers nothing for so long is given up (ms). */
const CLUSTER_TIMEOUT_MS = 3_000;
/** For commits of messages. */
const MESSAGE_LIMITS: WriterLimits = { statementMs: 6_000, lockMs: 5_000, silentMs: 8_000, waitMs: 10_000 };
/** For commits that may take long. */
const BACKGROUND_LIMITS: WriterLimits = { statementMs: 30_000, lockMs: 15_000, silentMs: 35_000, waitMs: 60_000 };
/** Commits that may wait for the database. Above it they are refused, so that a database that stalls cannot fill the memory. */
const MAX_PENDING_COMMITS = 20_000;
/** Without the database for so long, the server is not ready (ms). A dead connection alone is replaced sooner. */
const UNREACHABLE_MS = 1_000;
const UNREACHABLE = {
	reason: 'database_unreachable',
	message: 'PostgreSQL does not answer: nothing can be stored.',
} as const;
/** SQLSTATE: there is no space left for a change. */
const DISK_FULL = '53100';
/** For so long after such a refusal the node is not ready (ms). Smaller changes may succeed meanwhile. */
const FULL_MS = 10_000;
const FULL = {
	reason: 'database_full',
	message: 'The disk of PostgreSQL is full: nothing can be stored.',
} as const;
/** Time for the end of the lease when the store is closed (ms). Without it the lease runs out. */
const LEAVE_MS = 2_000;
/** Time for what waits when the store is closed (ms). */
const CLOSE_MS = 10_000;
const NOT_CLOSED =
	'The database does not answer: what waited may not be stored. Acknowledged commits are in the database.';

/**
 * Opens the store on PostgreSQL: brings its schema up to date, joins as a node, and connects the writer and the readers.
 * @throws AppError `unavailable` for a database with an import that has not ended; a tool also for another schema
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
	const { role = 'node' } = options;
	if (role === 'node') await migrate(options.url);
	const pool = new Pool({ ...connectionOptions(options.url), max: READER_CONNECTIONS });
	const log = options.log ?? createLog('silent');
	pool.on('error', (err) => log.warn({ err }, 'a connection to the database was lost'));
	let exclusion: AsyncDisposable | undefined;
	try {
		if (role !== 'node') await requireCurrentSchema(sqlOf(pool));
		if (role === 'exclusive_tool') exclusion = await excludeServers(options.url);
		const node =
			role === 'node'
				? await joinCluster(sqlOf(pool), options.address ?? '', options.firstLeaseMs ?? LEASE_MS)
				: toolIdentity();
		const session = (id: string, limits: WriterLimits) =>
			new WriterSession({ url: options.url, id, epoch: node.epoch, log, limits: { ...limits, ...options.limits } });
		const sessions = {
			messages: session(node.owner, MESSAGE_LIMITS),
			background: session(`${node.owner}-background`, BACKGROUND_LIMITS),
		};
		const position = await new PostgresReaders(sqlOf(pool)).events.lastSeq();
		const blobs = await openPostgresBlobs({ url: options.url, log, temporaryFolder: options.temporaryFolder });
		const { url, observer, onExpelled = () => {} } = options;
		const parts = { pool, sessions, blobs, node, role, exclusion, url, log, observer, position, onExpelled };
		return new PostgresStore(parts);
	} catch (error) {
		await exclusion?.[Symbol.asyncDispose]();
		await endOf(pool);
		throw error;
	}
}

/** The connections that write. What may take long has its own, so that no message waits for it. */
interface Sessions {
	messages: WriterSession;
	/** Commits whose writes need statements of their own, such as projections and the search index, and claims of jobs. */
	background: WriterSession;
}

/** What the store is made of. It closes all of it. */
interface StoreParts {
	pool: Pool;
	sessions: Sessions;
	blobs: PostgresBlobs;
	node: NodeIdentity;
	role: PostgresRole;
	exclusion: AsyncDisposable | undefined;
	url: string;
	log: Log;
	observer: CommitObserver | undefined;
	/** The number of the event after which the log is followed. */
	position: number;
	onExpelled: (error: AppError) => void;
}

/** The store on PostgreSQL. `openPostgresStore` makes it. */
export class PostgresStore extends PostgresReaders implements OpenedStore {
	/** The node, and its epoch. Each start of a node has a later one. */
	readonly fence: NodeIdentity;
	readonly placement: PlacementStore;
	readonly sharedLimits: SharedLimits;
	readonly jobs: Jobs;
	readonly blobs: PostgresBlobs;
	readonly hints: PostgresHints;
	readonly searchDatabase: string;
	readonly health: OpenedStore['health'];
	readonly #sql: Sql;
	readonly #observer: CommitObserver | undefined;
	readonly #pool: Pool;
	readonly #clusterPool: Pool;
	readonly #url: string;
	readonly #sessions: Sessions;
	readonly #queue: CommitQueue;
	readonly #backgroundQueue: CommitQueue;
	readonly #notifications: Notifications;
	/** Null for a tool. */
	readonly #logFollower: LogFollower | null;
	readonly #exclusion: AsyncDisposable | undefined;
	readonly #listeners = new Set<EventsListener>();
	readonly #commitListeners = new Set<(commit: Commit) => void>();
	#isClosing = false;
	/** When PostgreSQL last refused a commit for want of space, by the monotonic clock. */
	#refusedAt = Number.NEGATIVE_INFINITY;

	constructor(parts: StoreParts) {
		const { pool, sessions, blobs, node, role, exclusion, url, log, observer, position, onExpelled } = parts;
		const sql = repeatingSql(sqlOf(pool));
		super(sql);
		this.#sql = sql;
		this.#observer = observer;
		this.searchDatabase = url;
		const isFull = () => performance.now() - this.#refusedAt < FULL_MS;
		this.health = {
			get problem() {
				if (sessions.messages.disconnectedMs > UNREACHABLE_MS) return UNREACHABLE;
				return isFull() ? FULL : null;
			},
		};
		this.#pool = pool;
		this.#url = url;
		this.#sessions = sessions;
		this.blobs = blobs;
		this.fence = node;
		this.#clusterPool = new Pool({
			...{ ...connectionOptions(url), query_timeout: CLUSTER_TIMEOUT_MS },
			max: CLUSTER_CONNECTIONS,
		});
		this.#clusterPool.on('error', (err) => log.warn({ err }, 'a connection to the database was lost'));
		const clusterSql = repeatingSql(sqlOf(this.#clusterPool));
		// A renewal that ends late finds that this node has left by itself.
		this.placement = new PostgresPlacement(clusterSql, node.owner, (error) => this.#isClosing || onExpelled(error));
		const listener = {
			onCommitted: (commit: Commit, outcome: CommitOutcome) => this.#publish(commit, outcome),
			onBatch: (size: number) => observer?.onBatch(size),
		};
		this.#queue = new CommitQueue(sessions.messages, listener);
		this.#backgroundQueue = new CommitQueue(sessions.background, listener);
		this.sharedLimits = new PostgresSharedLimits(sqlOf(pool), node.owner);
		this.#notifications = new Notifications({ sql, url, nodeId: node.owner });
		this.hints = new PostgresHints(this.#notifications);
		this.#exclusion = exclusion;
		this.#logFollower = null;
		if (role === 'node') {
			this.#logFollower = new LogFollower({
				...{ sql: clusterSql, log, position, notifications: this.#notifications },
				publish: (events, fence) => callEach(this.#listeners, events, fence),
			});
			this.#notifications.start();
		}
		this.jobs = {
			claim: (kind, limit, leaseMs) =>
				this.#refuseOr(this.#backgroundQueue, (queue) => queue.claim(kind, limit, leaseMs)),
			isClaimed: async (id) =>
				(await sql.get('SELECT 1 FROM jobs WHERE id = @id AND lease_until > 0', { id })) !== undefined,
		};
	}

	async commit(commit: Commit): Promise<CommitOutcome> {
		const startedAt = performance.now();
		const queue = isComposed(commit) ? this.#backgroundQueue : this.#queue;
		const outcome = await this.#refuseOr(queue, () => queue.commit(commit));
		this.#observer?.onCommit(performance.now() - startedAt);
		return outcome;
	}

	async state(): Promise<StoreState> {
		const state = await this.#sql.get<Pick<StoreState, 'now' | 'databaseBytes' | 'documents'> & { jobs: JobCounts[] }>(
			`SELECT now_ms() AS now, pg_database_size(current_database()) AS "databaseBytes",
				(SELECT coalesce(jsonb_agg(to_jsonb(waiting)), '[]') FROM (
					SELECT ${jobCountColumns('now_ms()')} FROM jobs GROUP BY kind
				) AS waiting) AS jobs,
				(SELECT jsonb_build_object(
					'indexed', coalesce(sum(documents_total - documents_pending - documents_failed), 0),
					'pending', coalesce(sum(documents_pending), 0), 'failed', coalesce(sum(documents_failed), 0)
				) FROM knowledge_bases) AS documents`,
		);
		if (state === undefined) throw new Error('A query without a table gave no row.');
		return {
			...state,
			jobs: jobStates(state.jobs),
			waitingTasks: this.#queue.size + this.#backgroundQueue.size,
			isWritable: this.isWritable(),
			walBytes: null,
		};
	}

	exclusively<T>(name: string, run: () => Promise<T>): Promise<T> {
		return exclusively(this.#url, name, run);
	}

	/** Frees the space of what was erased. See `vacuum` for what PostgreSQL cannot do. */
	overwriteErased(): Promise<void> {
		return vacuum(this.#url);
	}

	isWritable(): boolean {
		return !this.#isClosing && this.#sessions.messages.disconnectedMs === 0 && this.health.problem === null;
	}

	isBackupRunning(): boolean {
		return false;
	}

	onEvents(listener: EventsListener): () => void {
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
		const ended = Promise.all([this.#queue.drain(), this.#backgroundQueue.drain()]);
		const drained = withDeadline(ended, CLOSE_MS, () => new AppError('unavailable', NOT_CLOSED));
		try {
			await drained;
		} finally {
			await Promise.all([this.#sessions.messages.close(), this.#sessions.background.close()]);
			await this.#logFollower?.close();
			this.hints[Symbol.dispose]();
			await this.#notifications[Symbol.asyncDispose]();
			await this.blobs[Symbol.asyncDispose]();
			if (this.#logFollower) {
				const left = leaveCluster(this.#sql, this.fence.owner);
				await withDeadline(left, LEAVE_MS, () => new AppError('unavailable', NOT_CLOSED)).catch(() => {});
			}
			await this.#exclusion?.[Symbol.asyncDispose]();
			await Promise.all([endOf(this.#clusterPool), endOf(this.#pool)]);
		}
	}

	/** @throws AppError `unavailable` when the database refuses the change, or cannot be reached */
	async #refuseOr<T>(queue: CommitQueue, submit: (queue: CommitQueue) => Promise<T>): Promise<T> {
		if (this.#isClosing) throw new AppError('unavailable', 'The database is closed.');
		const { messages } = this.#sessions;
		if (queue.size >= MAX_PENDING_COMMITS || messages.disconnectedMs > messages.limits.waitMs) {
			throw new AppError('unavailable', 'The database does not answer.', { retry_after: 1 });
		}
		try {
			return await submit(queue);
		} catch (error) {
			if (error instanceof FailedCommitError && error.code === DISK_FULL) this.#refusedAt = performance.now();
			throw new AppError('unavailable', 'The change could not be stored.', { retry_after: 5, cause: error });
		}
	}

	/** Calls listeners in commit order, before the committing caller continues. */
	#publish(commit: Commit, outcome: CommitOutcome): void {
		if (outcome.outcome !== 'committed') return;
		callEach(this.#commitListeners, commit);
		if (!commit.events?.length) return;
		const events = commit.events.map((event, index) => ({ ...event, seq: outcome.seqs[index] as number }));
		this.#logFollower?.onCommitted(events, commit.fence);
	}
}
