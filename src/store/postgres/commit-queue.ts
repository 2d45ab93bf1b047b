import pg from 'pg';
import { type Deferred, deferred } from '../../base/index.ts';
import type { Commit, CommitOutcome, Job } from '../commit.ts';
import { encodeCommit } from './encode-commit.ts';
import { FailedCommitError, readOutcome, type StoredOutcome } from './outcomes.ts';
import type { Sql } from './sql.ts';
import { toJson } from './to-json.ts';
import { commitInTransaction } from './transaction.ts';
import { type BatchKey, UnreachableError, type WriterSession } from './writer-session.ts';

/** Commits in one transaction. Above 64 subtransactions PostgreSQL must look them up on disk. */
const MAX_BATCH_COMMITS = 50;
/** No job is ever postponed by more than this (webhooks' longest delay is six hours, doubled). */
const MAX_POSTPONEMENT_MS = 24 * 3_600_000;

const LATE = 'The database does not answer in time.';

interface PendingCommit {
	/** By the monotonic clock. */
	addedAt: number;
	commit: Commit;
	/** Null: it needs a transaction of its own. */
	encoded: object | null;
	done: Deferred<CommitOutcome>;
}

interface PendingClaim {
	/** By the monotonic clock. */
	addedAt: number;
	claim: { kind: string; limit: number; leaseMs: number };
	done: Deferred<Job[]>;
}

export interface CommitQueueListener {
	/** Gets each outcome before its caller does. */
	onCommitted(commit: Commit, outcome: CommitOutcome): void;
	/** @param size commits that share a transaction */
	onBatch(size: number): void;
}

type Pending = PendingCommit | PendingClaim;

/**
 * What waits for the database, in order. One batch is under way at a time, so events are published in the order of their commits. The
 * commits that wait meanwhile are the next batch.
 */
export class CommitQueue {
	readonly #session: WriterSession;
	readonly #listener: CommitQueueListener;
	#waiting: Pending[] = [];
	#running: Promise<void> | null = null;
	#size = 0;
	/** For the commit that has waited longest. */
	#timer: NodeJS.Timeout | undefined;

	constructor(session: WriterSession, listener: CommitQueueListener) {
		this.#session = session;
		this.#listener = listener;
	}

	/** What waits, and what is under way. */
	get size(): number {
		return this.#size;
	}

	/** @throws FailedCommitError, UnreachableError, ClosedError */
	commit(commit: Commit): Promise<CommitOutcome> {
		const done = deferred<CommitOutcome>();
		try {
			this.#add({ commit, encoded: encodeCommit(commit), done, addedAt: performance.now() });
		} catch (error) {
			done.reject(error);
		}
		return done.promise;
	}

	claim(kind: string, limit: number, leaseMs: number): Promise<Job[]> {
		const done = deferred<Job[]>();
		this.#add({ claim: { kind, limit, leaseMs }, done, addedAt: performance.now() });
		return done.promise;
	}

	/** Resolves when nothing waits. */
	async drain(): Promise<void> {
		while (this.#running !== null) await this.#running;
	}

	#add(pending: Pending): void {
		this.#size++;
		this.#waiting.push(pending);
		this.#running ??= this.#run();
		this.#timer ??= setTimeout(() => this.#refuseLate(), this.#session.limits.waitMs);
	}

	async #run(): Promise<void> {
		// Commits of one turn of the event loop share a transaction.
		await Promise.resolve();
		while (this.#waiting.length > 0) {
			const batch = this.#takeBatch();
			await this.#carryOut(batch);
			this.#size -= batch.length;
		}
		this.#running = null;
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}

	/** What was added before has waited too long. */
	get #latest(): number {
		return performance.now() - this.#session.limits.waitMs;
	}

	/** Refuses what has waited too long behind a batch that does not end. */
	#refuseLate(): void {
		const latest = this.#latest;
		const end = this.#waiting.findIndex(({ addedAt }) => addedAt > latest);
		const late = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
		this.#size -= late.length;
		for (const { done } of late) done.reject(new UnreachableError(LATE));
		const [next] = this.#waiting;
		const waitMs = next === undefined ? this.#session.limits.waitMs : next.addedAt - latest;
		this.#timer = setTimeout(() => this.#refuseLate(), waitMs);
	}

	/** Commits up to the first that needs a transaction of its own; or that one, or a claim, alone. */
	#takeBatch(): Pending[] {
		const end = this.#waiting.findIndex((pending) => !('commit' in pending) || pending.encoded === null);
		const count = end === -1 ? this.#waiting.length : Math.max(end, 1);
		return this.#waiting.splice(0, Math.min(count, MAX_BATCH_COMMITS));
	}

	async #carryOut(batch: Pending[]): Promise<void> {
		try {
			const [first] = batch;
			if (first === undefined) return;
			if ('claim' in first) {
				first.done.resolve(await this.#session.run((sql, key) => claimBatch(sql, key, first.claim)));
				return;
			}
			const commits = batch as PendingCommit[];
			this.#listener.onBatch(commits.length);
			const outcomes = await this.#session.run((sql, key) =>
				first.encoded === null ? commitInTransaction(sql, key, first.commit) : commitBatch(sql, key, commits),
			);
			for (const [position, pending] of commits.entries()) this.#settle(pending, outcomes[position] as StoredOutcome);
		} catch (error) {
			// Nothing of the batch was written. What one commit has caused must not fail the others.
			if (batch.length > 1 && error instanceof pg.DatabaseError) {
				for (const pending of batch) {
					if (pending.addedAt > this.#latest) await this.#carryOut([pending]);
					else pending.done.reject(new UnreachableError(LATE));
				}
				return;
			}
			const failure =
				error instanceof pg.DatabaseError ? new FailedCommitError(error.message, error.code ?? '') : error;
			for (const { done } of batch) done.reject(failure);
		}
	}

	#settle({ commit, done }: PendingCommit, stored: StoredOutcome): void {
		try {
			const outcome = readOutcome(stored);
			this.#listener.onCommitted(commit, outcome);
			done.resolve(outcome);
		} catch (error) {
			done.reject(error);
		}
	}
}

async function commitBatch(sql: Sql, key: BatchKey, commits: PendingCommit[]): Promise<StoredOutcome[]> {
	const row = await sql.get<{ outcomes: StoredOutcome[] }>(
		'SELECT commit_batch(@writer, @session, @epoch, @batch, @commits) AS outcomes',
		{ ...key, commits: toJson(commits.map(({ encoded }) => encoded)) },
	);
	return row?.outcomes ?? [];
}

async function claimBatch(sql: Sql, key: BatchKey, claim: PendingClaim['claim']): Promise<Job[]> {
	const row = await sql.get<{ jobs: Job[] }>(
		`SELECT claim_batch(@writer, @session, @epoch, @batch, @kind, @limit, @lease_ms, @max_postponement) AS jobs`,
		{ ...key, kind: claim.kind, limit: claim.limit, lease_ms: claim.leaseMs, max_postponement: MAX_POSTPONEMENT_MS },
	);
	return row?.jobs ?? [];
}
