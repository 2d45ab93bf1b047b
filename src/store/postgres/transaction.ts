import pg from 'pg';
import { messageOf } from '../../base/index.ts';
import type { Commit, CommitOutcome, Write } from '../commit.ts';
import type { Kind } from '../records.ts';
import { applyWrite } from './apply-write.ts';
import {
	encodeEvents,
	encodeExpectations,
	encodeJob,
	encodeResponse,
	encodeWrite,
	isFailureWrite,
	isMessageSpendingWrite,
	isRecordWrite,
} from './encode-commit.ts';
import { REFUSED } from './functions/commit.ts';
import { FailedCommitError, type StoredOutcome } from './outcomes.ts';
import type { Sql } from './sql.ts';
import { toJson } from './to-json.ts';
import type { BatchKey } from './writer-session.ts';

/** Thrown to undo a transaction: the commit is refused. */
export class RefusedCommitError extends Error {
	readonly outcome: Extract<CommitOutcome, { outcome: 'conflict' | 'over_budget' | 'fenced' }>;

	constructor(outcome: RefusedCommitError['outcome']) {
		super('The commit is refused.');
		this.outcome = outcome;
	}
}

export function conflict(kind: Kind, id: string): RefusedCommitError {
	return new RefusedCommitError({ outcome: 'conflict', kind, id });
}

/**
 * Carries out one commit in a transaction of several statements, for writes that are more than records. It does what `commit_batch`
 * does, in the same order and with the same functions.
 * @throws pg.DatabaseError, FailedCommitError
 */
export async function commitInTransaction(sql: Sql, key: BatchKey, commit: Commit): Promise<StoredOutcome[]> {
	await sql.run('BEGIN');
	let outcomes: StoredOutcome[];
	try {
		outcomes = await perform(sql, key, commit);
	} catch (error) {
		await sql.run('ROLLBACK');
		if (error instanceof RefusedCommitError) return [error.outcome];
		if (error instanceof pg.DatabaseError) {
			if (error.code === REFUSED) return [JSON.parse(error.detail ?? '')];
			throw error;
		}
		// The transaction is undone, so the connection works: the fault is in the commit.
		throw new FailedCommitError(messageOf(error), '', { cause: error });
	}
	// Without an answer it is not known whether this was carried out: the writer looks the batch up.
	await sql.run('COMMIT');
	return outcomes;
}

async function perform(sql: Sql, key: BatchKey, commit: Commit): Promise<StoredOutcome[]> {
	await sql.run('SELECT begin_batch(@writer, @session)', { ...key });
	const { fence, idempotency, write = [], jobs = [], events = [] } = commit;
	if (fence) {
		const held = await sql.get<{ holds: boolean }>('SELECT holds_shard(@shard, @epoch) AS holds', { ...fence });
		if (!held?.holds) throw new RefusedCommitError({ outcome: 'fenced' });
	}
	await lockSpending(sql, write);
	if (idempotency) {
		const response = toJson(encodeResponse(idempotency));
		const stored = await sql.get<{ replay: StoredOutcome | null }>('SELECT store_response(@response) AS replay', {
			response,
		});
		if (stored?.replay) return [stored.replay];
	}
	for (const { kind, id, version, is_written } of encodeExpectations(commit)) {
		const found = await sql.get<{ version: number }>('SELECT lock_record(@kind, @id, @is_written) AS version', {
			...{ kind, id, is_written },
		});
		if (found?.version !== version) throw conflict(kind, id);
	}
	for (const one of write) {
		if (isMessageSpendingWrite(one)) {
			await sql.run('SELECT apply_spending(@write, @epoch)', { write: toJson(one), epoch: key.epoch });
			continue;
		}
		if (isFailureWrite(one)) {
			await sql.run('SELECT write_failure(@write)', { write: toJson(one) });
			continue;
		}
		if (!isRecordWrite(one)) {
			await applyWrite(sql, one);
			continue;
		}
		const { op, kind, id, fields } = encodeWrite(one);
		const done = await sql.get<{ found: boolean }>('SELECT write_record(@op, @kind, @id, @fields) AS found', {
			...{ op, kind, id, fields: toJson(fields) },
		});
		if (!done?.found) throw conflict(kind, id);
	}
	for (const job of jobs)
		await sql.run('SELECT write_job(@job, @epoch)', { job: toJson(encodeJob(job)), epoch: key.epoch });
	const finished = await sql.get<{ outcomes: StoredOutcome[] }>(
		'SELECT finish_commit(@writer, @batch, @events) AS outcomes',
		{ ...key, events: toJson(encodeEvents(events)) },
	);
	return finished?.outcomes ?? [];
}

/** The costs are locked before records are, as in `commit_batch`. The erasure of a conversation ends its reservations. */
async function lockSpending(sql: Sql, writes: readonly Write[]): Promise<void> {
	const spending = writes.filter(({ op }) => op.startsWith('spending.') || op === 'erase_conversation');
	if (spending.length > 0) await sql.run('SELECT lock_spending_of(@writes)', { writes: toJson(spending) });
}
