import type { Database } from 'better-sqlite3';
import { ID_PREFIXES, messageOf } from '../../base/index.ts';
import { columnsOf, encodeColumn, insertionOf } from '../columns/columns.ts';
import {
	CONVERSATION_ERASURE_JOB,
	type Commit,
	type CommitOutcome,
	type Job,
	type JobWrite,
	type Write,
} from '../commit.ts';
import type { Kind } from '../records.ts';
import { eraseConversation, eraseRefusals } from './conversation-erasure.ts';
import { addDeliveries, applyDeliveryWrite, eraseEvents } from './deliveries.ts';
import { endErasure } from './erasures.ts';
import { ExpiredEventScanner } from './expired-events.ts';
import { applyInboxWrite } from './inbox/index.ts';
import { IS_SEALED, storedResponse } from './readers/idempotency.ts';
import { applyIndexWrite, dropGenerationsOf } from './search-index.ts';
import { applySourceWrite } from './source-pages.ts';
import { applySpendingWrite, eraseOldSpending, hasConversation, OverBudgetError } from './spending/index.ts';
import { type Prepare, statementsOf } from './statements.ts';
import { applyStatisticsWrite, recordExpiry } from './statistics/index.ts';

/** Which process may write. The epoch grows each time an owner takes the shard. */
export interface Fence {
	shard: string;
	owner: string;
	epoch: number;
}

/** Thrown inside a savepoint to roll it back: an expectation of the commit was not met. */
class ConflictError extends Error {
	readonly kind: Kind;
	readonly id: string;
	constructor(kind: Kind, id: string) {
		super(`${kind} ${id} has changed`);
		this.kind = kind;
		this.id = id;
	}
}

/** Takes the shard for a new owner. Commits of the previous owner are fenced from now on. */
export function takeFence(db: Database, shard: string, owner: string): Fence {
	const row = db
		.prepare(
			`INSERT INTO fences (shard, owner, epoch) VALUES (?, ?, 1)
			 ON CONFLICT (shard) DO UPDATE SET owner = excluded.owner, epoch = epoch + 1 RETURNING epoch`,
		)
		.get(shard, owner) as { epoch: number };
	return { shard, owner, epoch: row.epoch };
}

/** Reads the owner of the shard, for tools that write beside a running server. */
export function currentFence(db: Database, shard: string): Fence {
	const row = db.prepare('SELECT shard, owner, epoch FROM fences WHERE shard = ?').get(shard) as Fence | undefined;
	return row ?? takeFence(db, shard, 'tool');
}

/** No job is ever postponed by more than this (webhooks' longest delay is six hours, doubled). */
const MAX_POSTPONEMENT_MS = 24 * 3_600_000;

const ERASE_KNOWLEDGE_BASE = [
	'DELETE FROM jobs WHERE ref = @id',
	'DELETE FROM jobs WHERE ref IN (SELECT id FROM documents WHERE knowledge_base_id = @id)',
	'DELETE FROM jobs WHERE ref IN (SELECT id FROM sources WHERE knowledge_base_id = @id)',
	'DELETE FROM source_pages WHERE source_id IN (SELECT id FROM sources WHERE knowledge_base_id = @id)',
	'DELETE FROM sources WHERE knowledge_base_id = @id',
	'DELETE FROM documents WHERE knowledge_base_id = @id',
	'DELETE FROM knowledge_bases WHERE id = @id',
];

const ERASE_EXPIRED = [
	`DELETE FROM idempotency WHERE (scope, key) IN
	 (SELECT scope, key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
	'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
	'DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
	'DELETE FROM budget_notices WHERE id IN (SELECT id FROM budget_notices WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
];

/** A request to the writer. */
export type WriterTask =
	| { task: 'commit'; commit: Commit }
	| { task: 'claim'; kind: string; limit: number; now: number; leaseMs: number };

/** The result of a task: its value, or the error that rolled it back. */
export type WriterOutcome = { ok: true; value: CommitOutcome | Job[] } | WriterFailure;

/** The error that rolled a task back, with SQLite's code if it is an error of SQLite. */
export interface WriterFailure {
	ok: false;
	message: string;
	code?: string;
}

/** An error as a failure. */
export function failureOf(error: unknown): WriterFailure {
	const code = (error as { code?: unknown } | null)?.code;
	return { ok: false, message: messageOf(error), ...(typeof code === 'string' ? { code } : {}) };
}

/**
 * Runs tasks on the writing connection: many in one transaction, each in its own savepoint. A task that fails does not affect
 * the others, and all of them share one fsync.
 */
export class Writer {
	readonly #db: Database;
	readonly #fence: Fence;
	readonly #prepare: Prepare;
	readonly #expiredEvents = new ExpiredEventScanner();

	constructor(db: Database, fence: Fence) {
		this.#db = db;
		this.#fence = fence;
		this.#prepare = statementsOf(db);
	}

	/** Runs the tasks as one transaction. When this returns, what was committed is on disk. */
	run(tasks: readonly WriterTask[]): WriterOutcome[] {
		try {
			this.#prepare('BEGIN IMMEDIATE').run();
			const fenced = this.#isFenced();
			const outcomes = tasks.map((task) => this.#inSavepoint(() => this.#runTask(task, fenced)));
			this.#prepare('COMMIT').run();
			return outcomes;
		} catch (error) {
			if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
			return tasks.map(() => failureOf(error));
		}
	}

	#runTask(task: WriterTask, fenced: boolean): CommitOutcome | Job[] {
		if (task.task === 'claim') return fenced ? [] : this.#claim(task.kind, task.limit, task.now, task.leaseMs);
		return fenced ? { outcome: 'fenced' } : this.#commit(task.commit);
	}

	#inSavepoint(perform: () => CommitOutcome | Job[]): WriterOutcome {
		this.#prepare('SAVEPOINT task').run();
		try {
			const value = perform();
			this.#prepare('RELEASE task').run();
			return { ok: true, value };
		} catch (error) {
			// A full disk or an I/O error rolls back the whole transaction, and the savepoint with it.
			if (!this.#db.inTransaction) throw error;
			this.#db.exec('ROLLBACK TO task; RELEASE task');
			if (error instanceof ConflictError) {
				return { ok: true, value: { outcome: 'conflict', kind: error.kind, id: error.id } };
			}
			if (error instanceof OverBudgetError) {
				return { ok: true, value: { outcome: 'over_budget', exceeded: error.exceeded } };
			}
			return failureOf(error);
		}
	}

	#commit(commit: Commit): CommitOutcome {
		const { idempotency } = commit;
		if (idempotency) {
			const { scope, key, body_hash, subject, expires_at } = idempotency;
			const includeExpired = idempotency.accept_expired ?? false;
			const stored = storedResponse(this.#prepare, idempotency, { includeExpired });
			if (stored) return { outcome: 'replay', ...stored };
			const response = idempotency.pending
				? [null, null, JSON.stringify(idempotency.pending)]
				: [idempotency.status, idempotency.body, null];
			this.#prepare(
				`INSERT OR REPLACE INTO idempotency (scope, key, body_hash, status, body, pending, subject, expires_at)
				 VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			).run(scope, key, body_hash, ...response, subject ?? null, expires_at);
		}
		for (const { kind, id, version } of commit.expect ?? []) {
			const row = this.#prepare(`SELECT version FROM ${kind} WHERE id = ?`).get(id) as { version: number } | undefined;
			if ((row?.version ?? 0) !== version) throw new ConflictError(kind, id);
		}
		for (const write of commit.write ?? []) this.#write(write);
		for (const job of commit.jobs ?? []) this.#writeJob(job);
		const insertEvent = this.#prepare(
			'INSERT INTO events (id, stream, type, data, subject, created_at) VALUES (?, ?, ?, ?, ?, ?)',
		);
		const seqs = (commit.events ?? []).map((event) => {
			const { id, stream, type, data, subject, created_at } = event;
			const { lastInsertRowid } = insertEvent.run(id, stream, type, JSON.stringify(data), subject ?? null, created_at);
			const seq = Number(lastInsertRowid);
			// Endpoints subscribe to the streams of workspaces only.
			if (!stream.startsWith(ID_PREFIXES.conversation)) addDeliveries(this.#prepare, event, seq);
			return seq;
		});
		return { outcome: 'committed', seqs };
	}

	#write(write: Write): void {
		switch (write.op) {
			case 'insert': {
				const { kind, record } = write as { kind: Kind; record: Record<string, unknown> };
				const values = columnsOf(kind).map((column) =>
					column === 'version' ? 1 : encodeColumn(kind, column, record[column]),
				);
				this.#prepare(insertionOf(kind)).run(values);
				return;
			}
			case 'patch': {
				const set = Object.entries(write.set).filter(([, value]) => value !== undefined);
				const values = set.map(([field, value]) => encodeColumn(write.kind, field, value));
				const { changes } = this.#prepare(
					`UPDATE ${write.kind} SET version = version + 1${set.map(([field]) => `, ${field} = ?`).join('')} WHERE id = ?`,
				).run(...values, write.id);
				if (changes === 0) throw new ConflictError(write.kind, write.id);
				return;
			}
			case 'remove':
				this.#prepare(`DELETE FROM ${write.kind} WHERE id = ?`).run(write.id);
				return;
			case 'erase_rounds':
				this.#prepare('DELETE FROM reply_rounds WHERE message_id = ?').run(write.message_id);
				this.#prepare('DELETE FROM reply_calls WHERE message_id = ?').run(write.message_id);
				return;
			case 'erase_conversation':
				eraseConversation(this.#prepare, write.id, write.limit);
				return;
			case 'end_erasure':
				endErasure(this.#prepare, write.id, write.at, CONVERSATION_ERASURE_JOB);
				return;
			case 'erase_refusals':
				eraseRefusals(this.#prepare, write.erasure_id, write.scopes);
				return;
			case 'erase_knowledge_base':
				for (const sql of ERASE_KNOWLEDGE_BASE) this.#prepare(sql).run({ id: write.id });
				dropGenerationsOf(this.#db, write.id);
				return;
			case 'end_sessions':
				this.#prepare('DELETE FROM sessions WHERE user_id = ? AND id IS NOT ?').run(
					write.user_id,
					write.except ?? null,
				);
				return;
			case 'erase_expired':
				for (const sql of ERASE_EXPIRED) this.#prepare(sql).run(write.before, write.limit);
				eraseOldSpending(this.#prepare, write.before, write.limit);
				return;
			case 'erase_sealed_responses':
				this.#prepare(`DELETE FROM idempotency WHERE ${IS_SEALED}`).run();
				return;
			case 'erase_events': {
				const { seqs } = this.#expiredEvents.find(this.#prepare, write.before, write.limit);
				if (seqs.length > 0) recordExpiry(this.#prepare, write.before);
				eraseEvents(this.#prepare, seqs);
				return;
			}
			case 'cancel_deliveries':
			case 'erase_deliveries':
			case 'redeliver':
			case 'record_failure':
			case 'clear_failures':
				applyDeliveryWrite(this.#prepare, write);
				return;
			case 'sources.clear_frontier':
			case 'sources.find_pages':
			case 'sources.find_duplicates':
			case 'sources.remove_sitemaps':
			case 'sources.erase':
				applySourceWrite(this.#prepare, write);
				return;
			case 'inbox.project':
			case 'inbox.refresh':
			case 'inbox.read':
			case 'inbox.read_before':
			case 'inbox.rebuild':
				applyInboxWrite(this.#prepare, write);
				return;
			case 'spending.require_visitor':
				if (!hasConversation(this.#prepare, write.visitor_id))
					throw new ConflictError('conversations', write.visitor_id);
				return;
			case 'spending.reserve':
			case 'spending.extend':
			case 'spending.settle':
			case 'spending.erase_visitors':
			case 'spending.settle_abandoned':
				applySpendingWrite(this.#prepare, write);
				return;
			case 'statistics.project':
			case 'statistics.rebuild':
			case 'statistics.trim':
			case 'statistics.group':
				applyStatisticsWrite(this.#prepare, write);
				return;
			default:
				applyIndexWrite(this.#db, write);
		}
	}

	#writeJob(write: JobWrite): void {
		switch (write.op) {
			case 'enqueue': {
				const { id, kind, ref, group, due_at } = write.job;
				this.#prepare(
					`INSERT INTO jobs (id, kind, ref, fair_group, due_at, attempts, lease_epoch, lease_until)
					 SELECT @id, @kind, @ref, @group, @due_at, 0, 0, 0
					 WHERE NOT @unless_queued OR NOT EXISTS (SELECT 1 FROM jobs WHERE ref = @ref AND kind = @kind)`,
				).run({ id, kind, ref, group, due_at, unless_queued: write.unless_queued ? 1 : 0 });
				return;
			}
			case 'complete':
				this.#prepare('DELETE FROM jobs WHERE id = ?').run(write.id);
				return;
			case 'complete_all':
				this.#prepare('DELETE FROM jobs WHERE ref = ? AND kind = coalesce(?, kind)').run(write.ref, write.kind ?? null);
				return;
			case 'postpone':
				this.#prepare('UPDATE jobs SET due_at = ?, lease_until = 0, attempts = 0 WHERE id = ?').run(
					write.due_at,
					write.id,
				);
				return;
			case 'give_back':
				this.#prepare('UPDATE jobs SET due_at = 0, lease_until = 0, attempts = max(attempts - 1, 0) WHERE id = ?').run(
					write.id,
				);
				return;
			case 'restart_attempts':
				this.#prepare('UPDATE jobs SET attempts = 1 WHERE id = ?').run(write.id);
				return;
			case 'make_due':
				this.#prepare(
					`UPDATE jobs SET due_at = 0
					 WHERE kind = @kind AND due_at > 0 AND fair_group = coalesce(@group, fair_group) AND ref = coalesce(@ref, ref)`,
				).run({ kind: write.kind, group: write.group ?? null, ref: write.ref ?? null });
		}
	}

	/**
	 * A time beyond the longest delay shows that the clock was set back later; it counts as due.
	 * Fair: the first due job of every group, then the second of every group, and so on.
	 */
	#claim(kind: string, limit: number, now: number, leaseMs: number): Job[] {
		const jobs = this.#prepare(
			`SELECT id, kind, ref, fair_group AS "group", due_at, attempts + 1 AS attempts FROM (
				SELECT *, row_number() OVER (PARTITION BY fair_group ORDER BY due_at, id) AS turn FROM jobs
				WHERE kind = ? AND (due_at <= ? OR due_at > ?) AND (lease_epoch <> ? OR lease_until <= ? OR lease_until > ?)
			) ORDER BY turn, due_at, id LIMIT ?`,
		).all(kind, now, now + MAX_POSTPONEMENT_MS, this.#fence.epoch, now, now + MAX_POSTPONEMENT_MS, limit) as Job[];
		const lease = this.#prepare(
			'UPDATE jobs SET attempts = attempts + 1, lease_epoch = ?, lease_until = ? WHERE id = ?',
		);
		for (const { id } of jobs) lease.run(this.#fence.epoch, now + leaseMs, id);
		return jobs;
	}

	#isFenced(): boolean {
		const row = this.#prepare('SELECT epoch FROM fences WHERE shard = ?').get(this.#fence.shard) as
			| { epoch: number }
			| undefined;
		return row?.epoch !== this.#fence.epoch;
	}
}
