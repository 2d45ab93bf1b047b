import type { PlacementStore } from './placement.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { Store } from './store.ts';

/** The store with what only its owner needs. */
export interface OpenedStore extends Store {
	/** What `openSearchReader` opens: the database file, or the URL of PostgreSQL. */
	readonly searchDatabase: string;
	/** Whether writes succeed; the problem is for programs and for people. */
	readonly health: { readonly problem: { reason: string; message: string } | null };
	/** How much is stored, and what waits. */
	state(): Promise<StoreState>;
	/** The leases of shards; null where the store has one owner. */
	readonly placement: PlacementStore | null;
	/** Null where the store has one owner. */
	readonly sharedLimits: SharedLimits | null;
	/**
	 * Runs something while no other process of the store runs something under the same name.
	 * @throws Error when another process takes too long
	 */
	exclusively<T>(name: string, run: () => Promise<T>): Promise<T>;
}

/** How much is stored, and what waits. Sizes in bytes, times in ms since the epoch. */
export interface StoreState {
	/** The present time by the clock that due times of jobs follow: PostgreSQL's, or this machine's. */
	now: number;
	/** Commits that wait for the disk or for PostgreSQL. */
	waitingTasks: number;
	isWritable: boolean;
	databaseBytes: number;
	/** Null where the write-ahead log is PostgreSQL's. */
	walBytes: number | null;
	/** `oldest_due_at` is of the jobs that no one has claimed; null: there is none. A job that is due at once is due since it was made. */
	jobs: { kind: string; count: number; oldest_due_at: number | null }[];
	/** Of all knowledge bases. */
	documents: { indexed: number; pending: number; failed: number };
}

/** Receives the times of commits. It is called for each one, so it does little. */
export interface CommitObserver {
	/** @param size tasks that share a transaction */
	onBatch(size: number): void;
	/** @param ms from the call to the acknowledgement */
	onCommit(ms: number): void;
}
