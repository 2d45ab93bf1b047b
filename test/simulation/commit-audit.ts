import type { Database } from 'better-sqlite3';
import type { WriterOutcome, WriterTask } from '../../src/store/sqlite/writer.ts';
import { checkStatement } from './check-statements.ts';
import { checkConversation } from './conversation-rules.ts';
import type { Ledger } from './ledger.ts';
import { LogAudit } from './log-audit.ts';
import { require } from './violation.ts';

const DAY_MS = 24 * 3_600_000;

/** Checks the database after each transaction. */
export class CommitAudit {
	readonly log: LogAudit;
	/** Conversations that are gone. */
	readonly erased = new Set<string>();
	/** The messages of conversations that are about to be erased. */
	readonly #erasedMessages = new Map<string, string[]>();
	readonly #db: Database;
	readonly #ledger: Ledger;
	readonly #now: () => number;

	/** @param interruptions see `LogAudit` */
	constructor(db: Database, ledger: Ledger, now: () => number, interruptions: () => number) {
		this.#db = db;
		this.#ledger = ledger;
		this.#now = now;
		this.log = new LogAudit(db, interruptions);
	}

	/** An erasure was asked for, or its conversation has expired. */
	beforeCommit(tasks: readonly WriterTask[]): void {
		for (const id of tasks.flatMap(erasedBy)) {
			const found = checkStatement(
				this.#db,
				'SELECT coalesce(last_message_at, created_at) AS at FROM conversations WHERE id = ?',
			).get(id) as { at: number } | undefined;
			const messages = checkStatement(this.#db, 'SELECT id FROM messages WHERE conversation_id = ?').pluck().all(id);
			this.#erasedMessages.set(id, messages as string[]);
			if (found === undefined || this.#ledger.purgesRequested.has(id)) continue;
			require(this.#now() - found.at > DAY_MS, () => `${id} is erased although it has not expired`);
		}
	}

	afterCommit(tasks: readonly WriterTask[], outcomes: readonly WriterOutcome[]): void {
		this.log.readNew();
		const touched = new Set<string>();
		for (const [at, task] of tasks.entries()) {
			const outcome = outcomes[at];
			if (!outcome?.ok || !('outcome' in outcome.value) || outcome.value.outcome !== 'committed') continue;
			for (const id of erasedBy(task)) {
				this.erased.add(id);
				for (const message of this.#erasedMessages.get(id) ?? []) this.#ledger.erasedMessages.add(message);
				this.log.forget(id);
			}
			for (const id of conversationsOf(task)) touched.add(id);
		}
		for (const id of touched) if (!this.erased.has(id)) checkConversation(this.#db, id);
	}
}

function erasedBy(task: WriterTask): string[] {
	if (task.task !== 'commit') return [];
	return (task.commit.write ?? []).flatMap((write) => (write.op === 'erase_conversation' ? [write.id] : []));
}

function conversationsOf(task: WriterTask): string[] {
	if (task.task !== 'commit') return [];
	return (task.commit.events ?? []).flatMap(({ stream, subject }) => {
		return stream.startsWith('conv_') ? [stream] : subject ? [subject] : [];
	});
}
