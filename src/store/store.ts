import { AppError, KeyedLock } from '../base/index.ts';
import type { BlobStore } from './blobs.ts';
import type { Commit, CommitOutcome, Expectation, Job, StoredEvent, StoredResponse } from './commit.ts';
import type { Hints } from './hints.ts';
import type { ShardFence } from './placement.ts';
import type { Readers } from './readers.ts';
import type { Kind } from './records.ts';

/** The queue of jobs. */
export interface Jobs {
	/**
	 * Claims due jobs of a kind, fairly across groups, with a lease of `leaseMs`. Leases of an earlier process have ended with
	 * it.
	 */
	claim(kind: string, limit: number, leaseMs: number): Promise<Job[]>;
	/** Whether a job exists and was not postponed since its last claim. */
	isClaimed(id: string): Promise<boolean>;
}

/** @param fence of the commit; undefined: it had none, or the events were read from the log */
export type EventsListener = (events: StoredEvent[], fence?: ShardFence) => void;

/** The store without SQL: readers, and one way to write. */
export interface Store extends Readers, AsyncDisposable {
	/** Resolves when the commit is on disk or refused. Rejects with `unavailable` when the disk fails. */
	commit(commit: Commit): Promise<CommitOutcome>;
	/**
	 * Overwrites what stays of deleted rows in the database file and in the WAL. When it resolves, nothing that was deleted before the
	 * call is in them. It runs beside commits, and waits for readers such as a backup.
	 * @throws AppError `unavailable`
	 */
	overwriteErased(): Promise<void>;
	/**
	 * Whether a commit is expected to be on disk soon: the last writes have succeeded, the disk answers, and no other server
	 * has taken over the database.
	 */
	isWritable(): boolean;
	/** Calls the listener with the events of each durable commit, in commit order. Returns a function that ends this. */
	onEvents(listener: EventsListener): () => void;
	/**
	 * Calls the listener with each durable commit, in commit order. It is called for every message, so a listener does little, and
	 * ends when it has nothing to do. Returns a function that ends this.
	 */
	onCommits(listener: (commit: Commit) => void): () => void;
	/** The owner of the store. Commits of an older epoch are refused. */
	readonly fence: { owner: string; epoch: number };
	readonly jobs: Jobs;
	readonly blobs: BlobStore;
	/** Absent: the store has one owner. */
	readonly hints?: Hints | undefined;
	/**
	 * Whether a backup, of any process, needs the blobs: then none is removed. A backup that starts after the answer contains all
	 * commits before it.
	 */
	isBackupRunning(): boolean;
}

/** The commit's idempotency key has a stored response already. Nothing was written. */
export class IdempotentReplayError extends Error {
	readonly storedResponse: StoredResponse;

	constructor(stored: StoredResponse) {
		super('The request has a stored response.');
		this.name = 'IdempotentReplayError';
		this.storedResponse = stored;
	}
}

/**
 * Checks a client's condition (`If-Match`) on a resource against its version.
 * @param versions the versions that the client accepts; null: any
 * @throws AppError `precondition_failed`
 */
export function requireVersion(record: { version: number }, versions: readonly number[] | null): void {
	if (versions !== null && !versions.includes(record.version)) throw new AppError('precondition_failed');
}

/** The expectation that a record has not changed since it was read. */
export function expectVersion<K extends Kind>(kind: K, { id, version }: { id: string; version: number }): Expectation {
	return { kind, id, version };
}

/** The sentence of a process whose database another one has taken over. */
export const TAKEN_OVER_MESSAGE = 'Another Parley has taken over the database: this one cannot change anything.';

/** A commit was fenced: another node has the shard or the job, or another server the whole database. */
export function fencedError(): AppError {
	return new AppError('unavailable', 'Another server has taken this over. Try again.', { retry_after: 1 });
}

/** @throws IdempotentReplayError, AppError `unavailable` where a commit was not made */
export function requireCommitted(outcome: CommitOutcome): void {
	if (outcome.outcome === 'replay') throw new IdempotentReplayError(outcome);
	if (outcome.outcome === 'fenced') throw fencedError();
	if (outcome.outcome !== 'committed') {
		throw new AppError('unavailable', `The change was refused (${outcome.outcome}).`);
	}
}

/** Attempts at one decision when other commits conflict with it. */
const MAX_DECISION_ATTEMPTS = 20;

/** Decisions that conflict on the same record run one after the other, so that none starves. */
const conflictLocks = new KeyedLock();

/**
 * Decides and commits. After a conflict with another commit it decides again from the current records.
 * @param decide reads, and returns the commit (null: nothing to do) and the result to return once it is durable
 */
export async function decideAndCommit<T>(
	store: Pick<Store, 'commit'>,
	decide: () => Promise<{ commit: Commit | null; result: T }>,
): Promise<T> {
	const tryOnce = async (): Promise<{ result: T } | { conflictId: string }> => {
		const { commit, result } = await decide();
		if (commit === null) return { result };
		const outcome = await store.commit(commit);
		if (outcome.outcome === 'conflict') return { conflictId: outcome.id };
		requireCommitted(outcome);
		return { result };
	};
	const first = await tryOnce();
	if ('result' in first) return first.result;
	return conflictLocks.run(first.conflictId, async () => {
		for (let attempt = 1; attempt < MAX_DECISION_ATTEMPTS; attempt++) {
			const next = await tryOnce();
			if ('result' in next) return next.result;
		}
		throw new AppError('unavailable', 'The resource is being changed by too many at once. Try again.', {
			retry_after: 1,
		});
	});
}
