import { newId } from '../../base/index.ts';
import { CONVERSATION_ERASURE_JOB } from '../commit.ts';
import { eraseDeliveriesOf } from './deliveries.ts';
import type { Prepare } from './statements.ts';
import { countErasedConversation, eraseQuestions } from './statistics/index.ts';

/** The rows of a conversation besides its record. */
const UNERASED_ROWS = [
	'SELECT 1 FROM events WHERE subject = @id',
	'SELECT 1 FROM events WHERE stream = @id',
	'SELECT 1 FROM idempotency WHERE subject = @id',
	'SELECT 1 FROM messages WHERE conversation_id = @id',
	'SELECT 1 FROM notes WHERE conversation_id = @id',
];

/** Removes a conversation, and at most `limit` of its other rows of each kind; see the write `erase_conversation`. */
export function eraseConversation(prepare: Prepare, id: string, limit = -1): void {
	countErasedConversation(prepare, id);
	eraseQuestions(prepare, id);
	prepare('DELETE FROM conversations WHERE id = ?').run(id);
	const aboutIt = prepare('SELECT seq FROM events WHERE subject = ? LIMIT ?').pluck().all(id, limit) as number[];
	const inItsStream = prepare('SELECT seq FROM events WHERE stream = ? LIMIT ?').pluck().all(id, limit) as number[];
	for (const seq of aboutIt) eraseDeliveriesOf(prepare, seq);
	for (const seq of [...aboutIt, ...inItsStream]) prepare('DELETE FROM events WHERE seq = ?').run(seq);
	prepare(
		`DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE subject = ? LIMIT ?)`,
	).run(id, limit);
	for (const table of ['messages', 'notes']) {
		prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE conversation_id = ? LIMIT ?)`).run(
			id,
			limit,
		);
	}

	prepare('DELETE FROM jobs WHERE ref = ? AND kind = ?').run(id, CONVERSATION_ERASURE_JOB);
	if (!hasUnerasedRows(prepare, id)) return;
	prepare(
		`INSERT INTO jobs (id, kind, ref, fair_group, due_at, attempts, lease_epoch, lease_until) VALUES (?, ?, ?, ?, 0, 0, 0, 0)`,
	).run(newId('job'), CONVERSATION_ERASURE_JOB, id, id);
}

/** Whether any row of an erased conversation remains. */
export function hasUnerasedRows(prepare: Prepare, id: string): boolean {
	const { found } = prepare(`SELECT ${UNERASED_ROWS.map((sql) => `EXISTS (${sql})`).join(' OR ')} AS found`).get({
		id,
	}) as {
		found: number;
	};
	return found === 1;
}
