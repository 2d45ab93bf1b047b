import type { Commit, IdempotencyRecord } from './commit.ts';
import { decideAndCommit, type Store } from './store.ts';

/** Makes the stored response for repeats of a request from the result of its change; undefined stores none. */
export type ReceiptFactory<T> = (result: T) => IdempotencyRecord | undefined;

/**
 * A change of the domain that its caller commits. Without `commit` nothing happens. A request commits it with its receipt, so that
 * the domain needs no knowledge of idempotency; other callers commit it without.
 */
export interface UncommittedChange<T> {
	/**
	 * Decides and commits, with the receipt in the transaction of the change. Resolves with the result once it is durable. A
	 * decision that changes nothing stores no receipt.
	 * @throws IdempotentReplayError where the receipt's key has a stored response already
	 */
	commit(receipt?: ReceiptFactory<T>): Promise<T>;
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
		commit: (receipt) =>
			decideAndCommit(store, async () => {
				const { commit, result } = await decide();
				return { commit: commit && receipt ? { ...commit, idempotency: receipt(result) } : commit, result };
			}),
	};
}

/** The same change with steps before and after its commit. */
export function aroundCommit<T>(
	change: UncommittedChange<T>,
	run: (commit: () => Promise<T>) => Promise<T>,
): UncommittedChange<T> {
	return { commit: (receipt) => run(() => change.commit(receipt)) };
}
