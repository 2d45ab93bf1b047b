import { AppError, KeyedLock } from '../base/index.ts';
import type { BlobStore } from './blobs.ts';
import type { Commit, CommitOutcome, Expectation, Job, StoredEvent, StoredResponse } from './commit.ts';
import type { Readers } from './readers.ts';
import type { Kind } from './records.ts';

export interface Jobs {
	/**
	 * Takes due jobs of a kind, fairly across groups, and keeps them from others for `leaseMs`. Jobs that a process before
	 * this one had in hand are free at once.
	 */
	claim(kind: string, limit: number, leaseMs: number): Promise<Job[]>;
}

/** The store as the domain knows it: no SQL, one way to write. */
export interface Store extends Readers, AsyncDisposable {
	/** Resolves once the commit is on disk (or refused). Rejects with `unavailable` when the disk fails. */
	commit(commit: Commit): Promise<CommitOutcome>;
	/** Called with the events of each commit after it is durable, in commit order. Returns the way to end it. */
	onEvents(listener: (events: StoredEvent[]) => void): () => void;
	/** Who owns the store, since when: commits of an owner before it are refused. */
	readonly fence: { owner: string; epoch: number };
	readonly jobs: Jobs;
	readonly blobs: BlobStore;
}

/** A commit carried the answer to a request that was answered before: nothing was written, and this is the answer. */
export class IdempotentReplayError extends Error {
	readonly storedResponse: StoredResponse;

	constructor(stored: StoredResponse) {
		super('The request was answered before.');
		this.name = 'AnsweredBefore';
		this.storedResponse = stored;
	}
}

/**
 * Holds a client's condition on a resource against its version.
 * @param versions those that the client would change; null: any
 * @throws AppError `precondition_failed`
 */
export function requireVersion(record: { version: number }, versions: readonly number[] | null): void {
	if (versions !== null && !versions.includes(record.version)) throw new AppError('precondition_failed');
}

/** The expectation that a record has not changed since it was read. */
export function expectVersion<K extends Kind>(kind: K, { id, version }: { id: string; version: number }): Expectation {
	return { kind, id, version };
}

/** How often a decision is made anew when what it was based on has changed meanwhile. */
const MAX_CONFLICT_RETRIES = 20;

/** Decisions that were overtaken take turns by the record that overtook them: of many at once each is made, and none starves. */
const conflictLocks = new KeyedLock();

/**
 * Decides and commits; where the decision was overtaken by another commit, decides anew from what is there now.
 * @param decide reads, and answers the commit together with what to return once it is durable; or null for nothing to do
 */
export async function decideAndCommit<T>(
	store: Pick<Store, 'commit'>,
	decide: () => Promise<{ commit: Commit | null; result: T }>,
): Promise<T> {
	const tryOnce = async (): Promise<{ result: T } | { overtakenBy: string }> => {
		const { commit, result } = await decide();
		if (commit === null) return { result };
		const outcome = await store.commit(commit);
		if (outcome.outcome === 'committed') return { result };
		if (outcome.outcome === 'conflict') return { overtakenBy: outcome.id };
		if (outcome.outcome === 'replay') throw new IdempotentReplayError(outcome);
		throw new AppError('unavailable', `The change was refused (${outcome.outcome}).`);
	};
	const first = await tryOnce();
	if ('result' in first) return first.result;
	return conflictLocks.run(first.overtakenBy, async () => {
		for (let retries = 1; retries < MAX_CONFLICT_RETRIES; retries++) {
			const next = await tryOnce();
			if ('result' in next) return next.result;
		}
		throw new AppError('unavailable', 'The resource is being changed by too many at once. Try again.', {
			retry_after: 1,
		});
	});
}
