import type { Commit } from './commit.ts';
import { decideAndCommit, type Store } from './store.ts';

/** What a request adds to the commit of its change: the stored response for repeats, and its record in the audit log. */
export type CommitAddition = Pick<Commit, 'idempotency' | 'write'>;

/** Makes the addition of a request from the result of its change. Not called where nothing changes. */
export type AdditionFactory<T> = (result: T) => CommitAddition;

/**
 * A change of the domain that its caller commits. Without `commit` nothing happens. A request commits it with its addition, so that
 * the domain needs no knowledge of idempotency and of the audit log; other callers commit it without.
 */
export interface UncommittedChange<T> {
	/**
	 * Decides and commits, with the addition in the transaction of the change. Resolves with the result once it is durable. A
	 * decision that changes nothing commits no addition.
	 * @throws IdempotentReplayError where the key of the request has a stored response already
	 */
	commit(addition?: AdditionFactory<T>): Promise<T>;
	/** Never present. This type makes `await` without `commit` a compile error. */
	readonly then?: (missingCommit: never) => never;
}

/**
 * A change that is decided when it is committed, and again after each conflict with another commit.
 * @param decide reads, and returns the commit (null: nothing to do) and the result to return once it is durable
 */
export function prepareChange<T>(
	store: Pick<Store, 'commit'>,
	decide: () => Promise<{ commit: Commit | null; result: T }>,
): UncommittedChange<T> {
	return {
		commit: (addition) =>
			decideAndCommit(store, async () => {
				const { commit, result } = await decide();
				return { commit: commit && addition ? withAddition(commit, addition(result)) : commit, result };
			}),
	};
}

/** A commit with what its request adds. */
export function withAddition(commit: Commit, { idempotency, write = [] }: CommitAddition): Commit {
	return {
		...commit,
		...(idempotency && { idempotency }),
		...(write.length > 0 && { write: [...(commit.write ?? []), ...write] }),
	};
}

/** The same change with steps before and after its commit. */
export function aroundCommit<T>(
	change: UncommittedChange<T>,
	run: (commit: () => Promise<T>) => Promise<T>,
): UncommittedChange<T> {
	return { commit: (addition) => run(() => change.commit(addition)) };
}
