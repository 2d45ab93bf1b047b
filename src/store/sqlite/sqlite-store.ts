import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { AppError, createLog, type Deferred, deferred, type Log, newId, withDeadline } from '../../base/index.ts';
import type { BlobStore } from '../blobs.ts';
import { callEach } from '../call-each.ts';
import type { Commit, CommitOutcome, Job } from '../commit.ts';
import { type JobCounts, jobCountColumns, jobStates } from '../job-state.ts';
import type { CommitObserver, OpenedStore, StoreState } from '../opened-store.ts';
import type { Kind, Records } from '../records.ts';
import { type EventsListener, type Jobs, TAKEN_OVER_MESSAGE } from '../store.ts';
import { ENDED_CODE, STALLED_CODE, TAKEN_OVER_CODE, WriteHealth } from '../write-health.ts';
import { databaseFile, openReadOnly } from './connection.ts';
import { FileBlobs } from './file-blobs.ts';
import { BackupLockMonitor } from './file-lock.ts';
import { MessageCache } from './message-cache.ts';
import { SqliteReaders } from './readers.ts';
import { STALLED_MESSAGE, StallDetector } from './stall-detector.ts';
import type { Fence, WriterFailure, WriterOutcome, WriterTask } from './writer.ts';
import { WriterQueue } from './writer-queue.ts';
import type { FromWriter, StoreRole, ToWriter, WriterThreadData } from './writer-thread.ts';

export interface SqliteStoreOptions {
	/** The data directory, made if it is missing. */
	dataDir: string;
	/** The script of the writer thread and how Node runs it. */
	writer: { file: URL; execArgv?: string[] };
	/** Called when the writer ends by itself, or another server has taken over: nothing can be written afterwards. */
	onFailure?: (error: Error) => void;
	/** Default: `server`. */
	role?: StoreRole;
	/** Receives failures of the disk. */
	log?: Log;
	/** Receives the times of commits. */
	observer?: CommitObserver | undefined;
	/** Milliseconds between two checks that the writer answers. */
	stallCheckMs?: number;
	/** Milliseconds that closing may take. */
	closeMs?: number;
}

/** Tasks that may wait for the writer. Above it commits are refused, so that a stalled disk cannot fill the memory. */
const MAX_PENDING_TASKS = 20_000;

/** The page cache of the main thread, which reads single rows and pages of lists. */
const READER_CACHE_KIB = 4_000;
/** The writer keeps nothing between two batches. With less, it copies the rows of a large batch. */
const WRITER_YOUNG_GENERATION_MB = 16;

/** Time for waiting tasks and for the checkpoint of the WAL. */
const CLOSE_MS = 10_000;
const NOT_CLOSED = 'The disk does not answer: the database was not closed. Acknowledged commits are on disk.';

const PROBE_ID = 'write_probe';
/** Writes a page of the database without changing its content. */
const PROBE_COMMIT: Commit = {
	write: [
		{ op: 'insert', kind: 'server_facts', record: { id: PROBE_ID, value: '', created_at: 0 } },
		{ op: 'remove', kind: 'server_facts', id: PROBE_ID },
	],
};

/** The writer as the store sees it: a worker thread. */
export interface WriterPort {
	postMessage(message: ToWriter): void;
	on(event: 'message', listener: (message: FromWriter) => void): unknown;
	on(event: 'error', listener: (error: Error) => void): unknown;
	on(event: 'exit', listener: () => void): unknown;
	terminate(): Promise<unknown>;
}

/** Opens the embedded store: starts the writer thread, waits for the migrations, and opens the readers. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<OpenedStore> {
	const workerData: WriterThreadData = {
		dataDir: options.dataDir,
		role: options.role ?? 'server',
		owner: `${process.pid}-${newId('request')}`,
	};
	const thread = new Worker(options.writer.file, {
		workerData,
		execArgv: options.writer.execArgv ?? [],
		resourceLimits: { maxYoungGenerationSizeMb: WRITER_YOUNG_GENERATION_MB },
	});
	try {
		const fence = await waitForFence(thread);
		const folder = join(options.dataDir, 'blobs');
		let health: WriteHealth | undefined;
		const blobs = new FileBlobs(folder, (error) => health?.recordFileFailure(error));
		await blobs.prepare({ isOnlyOwner: workerData.role !== 'tool' });
		const readOnly = openReadOnly(databaseFile(options.dataDir), READER_CACHE_KIB);
		const store = new SqliteStore(thread, readOnly, blobs, fence, options);
		health = store.health;
		return store;
	} catch (error) {
		await thread.terminate();
		throw error;
	}
}

function waitForFence(thread: Worker): Promise<Fence> {
	return new Promise<Fence>((resolve, reject) => {
		thread.once('message', (message: FromWriter) => {
			if ('refused' in message) reject(new AppError('unavailable', message.refused));
			else if ('ready' in message) resolve(message.fence);
		});
		thread.once('error', reject);
		thread.once('exit', (code) => reject(new Error(`The writer thread ended with code ${code}.`)));
	});
}

/** The embedded store on its writer and a connection for readers. `openSqliteStore` makes both. */
export class SqliteStore extends SqliteReaders implements OpenedStore {
	readonly blobs: BlobStore;
	readonly jobs: Jobs;
	readonly searchDatabase: string;
	/** This process is the only owner. */
	readonly placement = null;
	readonly sharedLimits = null;
	readonly fence: Fence;
	readonly health: WriteHealth;
	readonly #thread: WriterPort;
	readonly #readOnly: Database;
	readonly #messageCache = new MessageCache();
	readonly #listeners = new Set<EventsListener>();
	readonly #commitListeners = new Set<(commit: Commit) => void>();
	readonly #tasks: WriterQueue;
	/** Orders to overwrite what was erased, in the order in which the thread carries them out. */
	readonly #overwriteOrders: Deferred<void>[] = [];
	#failure: Error | undefined;
	#closing = false;
	/** Another server has taken over the database. */
	#isFenced = false;
	readonly #closed = deferred<void>();
	readonly #backupLock: BackupLockMonitor;
	readonly #stallDetector: StallDetector;
	readonly #onFailure: (error: Error) => void;
	readonly #closeMs: number;
	readonly #observer: CommitObserver | undefined;

	constructor(
		thread: WriterPort,
		db: Database,
		blobs: BlobStore,
		fence: Fence,
		options: Omit<SqliteStoreOptions, 'writer' | 'role'>,
	) {
		const { onFailure = () => {}, log, stallCheckMs, closeMs = CLOSE_MS } = options;
		super(db);
		this.#readOnly = db;
		this.#thread = thread;
		this.#observer = options.observer;
		this.#tasks = new WriterQueue(
			(message) => {
				thread.postMessage(message);
				if (typeof message === 'object') this.#observer?.onBatch(message.tasks.length);
			},
			(task, outcome) => this.#publish(task, outcome),
		);
		this.searchDatabase = databaseFile(options.dataDir);
		this.blobs = blobs;
		this.#backupLock = new BackupLockMonitor(options.dataDir);
		this.fence = fence;
		this.#onFailure = onFailure;
		this.#closeMs = closeMs;
		this.health = new WriteHealth({ log: log ?? createLog('silent'), probe: () => this.#probe() });
		this.#stallDetector = new StallDetector({
			checkMs: stallCheckMs,
			isWaiting: () => this.#tasks.size > 0,
			onStall: () => this.health.recordFailure(STALLED_CODE, STALLED_MESSAGE),
		});
		const claimed = db.prepare('SELECT 1 FROM jobs WHERE id = ? AND lease_until > 0');
		this.jobs = {
			claim: (kind, limit, leaseMs) => this.#claim(kind, limit, leaseMs),
			isClaimed: async (id) => claimed.get(id) !== undefined,
		};
		thread.on('message', (message) => this.#receive(message));
		thread.on('error', (error) => this.#fail(error));
		thread.on('exit', () => this.#fail(new Error('The writer thread has ended.')));
	}

	override async get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
		const recent = kind === 'messages' ? (this.#messageCache.get(id) as Records[K] | undefined) : undefined;
		return recent ?? super.get(kind, id);
	}

	async commit(commit: Commit): Promise<CommitOutcome> {
		const startedAt = performance.now();
		const outcome = await this.#submit<CommitOutcome>({ task: 'commit', commit });
		this.#observer?.onCommit(performance.now() - startedAt);
		return outcome;
	}

	async state(): Promise<StoreState> {
		const now = Date.now();
		const jobs = this.#readOnly.prepare<[{ now: number }], JobCounts>(
			`SELECT ${jobCountColumns('@now')} FROM jobs GROUP BY kind`,
		);
		const documents = this.#readOnly.prepare(
			`SELECT coalesce(sum(documents_total - documents_pending - documents_failed), 0) AS indexed,
				coalesce(sum(documents_pending), 0) AS pending, coalesce(sum(documents_failed), 0) AS failed
			 FROM knowledge_bases`,
		);
		return {
			waitingTasks: this.#tasks.size,
			isWritable: this.isWritable(),
			now,
			databaseBytes: await sizeOf(this.searchDatabase),
			walBytes: await sizeOf(`${this.searchDatabase}-wal`),
			jobs: jobStates(jobs.all({ now })),
			documents: documents.get() as StoreState['documents'],
		};
	}

	exclusively<T>(_name: string, run: () => Promise<T>): Promise<T> {
		return run();
	}

	overwriteErased(): Promise<void> {
		if (this.#closing || this.#failure) throw new AppError('unavailable', 'The database is closed.');
		const done = deferred<void>();
		this.#overwriteOrders.push(done);
		this.#thread.postMessage('overwrite' satisfies ToWriter);
		return done.promise;
	}

	isWritable(): boolean {
		const isOpen = !this.#closing && !this.#failure && !this.#isFenced;
		return isOpen && this.health.problem === null && !this.#stallDetector.isLate;
	}

	isBackupRunning(): boolean {
		return this.#backupLock.isHeld();
	}

	onEvents(listener: EventsListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	onCommits(listener: (commit: Commit) => void): () => void {
		this.#commitListeners.add(listener);
		return () => this.#commitListeners.delete(listener);
	}

	/** @throws AppError `unavailable` when the disk does not answer in time */
	async [Symbol.asyncDispose](): Promise<void> {
		if (!this.#failure && !this.#closing) {
			this.#closing = true;
			this.#tasks.sendAll();
			this.#thread.postMessage('close' satisfies ToWriter);
		}
		const closed = withDeadline(this.#closed.promise, this.#closeMs, () => new AppError('unavailable', NOT_CLOSED));
		try {
			await closed;
		} finally {
			this.#stallDetector[Symbol.dispose]();
			this.health[Symbol.dispose]();
			this.#readOnly.close();
			this.#backupLock[Symbol.dispose]();
			const ended = this.#thread.terminate();
			// A thread that waits for the disk cannot be terminated before the disk answers.
			if (this.#failure) await ended;
		}
	}

	/** Writes a file and a commit, each durably, and removes both. */
	async #probe(): Promise<void> {
		await this.blobs.probe();
		const { outcome } = await this.#submit<CommitOutcome>({ task: 'commit', commit: PROBE_COMMIT }, { isProbe: true });
		if (outcome === 'fenced') throw Object.assign(new Error(TAKEN_OVER_MESSAGE), { code: TAKEN_OVER_CODE });
	}

	#claim(kind: string, limit: number, leaseMs: number): Promise<Job[]> {
		return this.#submit<Job[]>({ task: 'claim', kind, limit, now: Date.now(), leaseMs });
	}

	async #submit<T extends CommitOutcome | Job[]>(task: WriterTask, { isProbe = false } = {}): Promise<T> {
		if (this.#closing || this.#failure) {
			throw new AppError('unavailable', 'The database is closed.', { cause: this.#failure });
		}
		if (this.#tasks.size >= MAX_PENDING_TASKS) {
			throw new AppError('unavailable', 'The disk does not keep up with the writes.', { retry_after: 1 });
		}
		if (!isProbe && this.health.problem?.reason === 'disk_stalled') {
			this.health.recordFailure(STALLED_CODE, STALLED_MESSAGE);
			throw new AppError('unavailable', 'The change could not be written to disk.', {
				retry_after: 5,
				cause: Object.assign(new Error(STALLED_MESSAGE), { code: STALLED_CODE }),
			});
		}
		if (task.task === 'commit') this.#messageCache.beginCommit(task.commit);
		const outcome = await this.#tasks.add(task);
		if (!outcome.ok) {
			this.health.recordFailure(outcome.code, outcome.message);
			throw new AppError('unavailable', 'The change could not be written to disk.', {
				retry_after: 5,
				cause: Object.assign(new Error(outcome.message), { code: outcome.code }),
			});
		}
		return outcome.value as T;
	}

	#receive(message: FromWriter): void {
		if ('closed' in message) {
			this.#fail(new Error('closed'));
			return;
		}
		if ('troubled' in message) this.health.recordFailure(message.troubled.code, message.troubled.message);
		if ('overwritten' in message) this.#endOverwriting(message.overwritten, message.failure);
		if (!('outcomes' in message)) return;
		this.#stallDetector.recordProgress();
		this.health.recordProgress();
		this.#tasks.receive(message.outcomes);
	}

	#endOverwriting(count: number, failure?: WriterFailure): void {
		for (const order of this.#overwriteOrders.splice(0, count)) {
			if (failure === undefined) order.resolve();
			else order.reject(new AppError('unavailable', `What was erased could not be overwritten: ${failure.message}`));
		}
	}

	/** Calls listeners in commit order, before the committing caller continues. */
	#publish(task: WriterTask, outcome: WriterOutcome): void {
		if (task.task !== 'commit') return;
		const committed = outcome.ok ? (outcome.value as CommitOutcome) : null;
		this.#messageCache.endCommit(task.commit, committed?.outcome === 'committed');
		if (committed?.outcome === 'fenced') this.#recordFenced();
		if (committed?.outcome !== 'committed') return;
		callEach(this.#commitListeners, task.commit);
		if (!task.commit.events?.length || this.#listeners.size === 0) return;
		const events = task.commit.events.map((event, index) => ({ ...event, seq: committed.seqs[index] as number }));
		callEach(this.#listeners, events, task.commit.fence);
	}

	/** Nothing can be written any more, as after the end of the thread. */
	#recordFenced(): void {
		if (this.#isFenced) return;
		this.#isFenced = true;
		this.health.recordFailure(TAKEN_OVER_CODE, TAKEN_OVER_MESSAGE);
		if (!this.#closing) this.#onFailure(new Error(TAKEN_OVER_MESSAGE));
	}

	#fail(error: Error): void {
		if (this.#failure) return;
		this.#failure = error;
		if (!this.#closing) this.health.recordFailure(ENDED_CODE, error.message);
		this.#tasks.failAll(error.message);
		this.#endOverwriting(this.#overwriteOrders.length, { ok: false, message: error.message });
		this.#closed.resolve();
		if (!this.#closing) this.#onFailure(error);
	}
}

/** The size of a file in bytes; 0 where there is none. */
async function sizeOf(file: string): Promise<number> {
	const { size } = await stat(file).catch(() => ({ size: 0 }));
	return size;
}
