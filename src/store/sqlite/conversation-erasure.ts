import { newId } from '../../base/index.ts';
import { CONVERSATION_ERASURE_JOB, type ReceiptKey } from '../commit.ts';
import { ERASED_RESPONSE, ERASED_SCOPE, hashOfRequest } from '../erased-request.ts';
import { eraseEvents } from './deliveries.ts';
import { addErased, runningErasureOf } from './erasures.ts';
import { eraseSpendingOfVisitor, settleErasedConversation } from './spending/index.ts';
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

const MESSAGES = 'SELECT id FROM messages WHERE conversation_id = @id LIMIT @limit';

/** Rows that triggers remove. The first removes those of the record, the others those of the messages. */
const REMOVED_BY_TRIGGERS = {
	inbox_rows: `SELECT (SELECT count(*) FROM inbox_rows WHERE conversation_id = @id)
		+ (SELECT count(*) FROM inbox_reads WHERE conversation_id = @id)`,
	reply_rounds: `SELECT (SELECT count(*) FROM reply_rounds WHERE message_id IN (${MESSAGES}))
		+ (SELECT count(*) FROM reply_calls WHERE message_id IN (${MESSAGES}))`,
	search_entries: `SELECT count(*) FROM searchable_messages WHERE message_id IN (${MESSAGES})`,
} as const;

/** Removes a conversation, and at most `limit` of its other rows of each kind; see the write `erase_conversation`. */
export function eraseConversation(prepare: Prepare, id: string, limit = -1): void {
	const erasure = runningErasureOf(prepare, id, CONVERSATION_ERASURE_JOB);
	const countOf = (place: keyof typeof REMOVED_BY_TRIGGERS) =>
		erasure ? (prepare(REMOVED_BY_TRIGGERS[place]).pluck().get({ id, limit }) as number) : 0;
	const byTriggers = {
		inbox_rows: countOf('inbox_rows'),
		reply_rounds: countOf('reply_rounds'),
		search_entries: countOf('search_entries'),
	};
	countErasedConversation(prepare, id);
	const cost_rows = settleErasedConversation(prepare, id);
	const spender = prepare('SELECT workspace_id, visitor_id FROM conversations WHERE id = ?').get(id) as
		| { workspace_id: string; visitor_id: string | null }
		| undefined;
	const unanswered_questions = eraseQuestions(prepare, id);
	const conversations = prepare('DELETE FROM conversations WHERE id = ?').run(id).changes;
	const aboutIt = prepare('SELECT seq FROM events WHERE subject = ? LIMIT ?').pluck().all(id, limit) as number[];
	const inItsStream = prepare('SELECT seq FROM events WHERE stream = ? LIMIT ?').pluck().all(id, limit) as number[];
	const events = eraseEvents(prepare, [...new Set([...aboutIt, ...inItsStream])]);
	// Without an erasure of the person the sums stay: otherwise a short retention would renew the visitor's budget.
	const ofBudgets =
		erasure && spender?.visitor_id
			? eraseSpendingOfVisitor(prepare, spender.workspace_id, spender.visitor_id)
			: undefined;
	const stored_responses = eraseResponses(prepare, id, limit);
	const eraseFrom = (table: 'messages' | 'notes') =>
		prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE conversation_id = ? LIMIT ?)`).run(
			id,
			limit,
		).changes;
	const counts = { conversations, messages: eraseFrom('messages'), notes: eraseFrom('notes'), ...events };
	if (erasure) {
		const refused = erasure.scope === null ? 0 : eraseResponsesOf(prepare, erasure.scope);
		const stored = { stored_responses: stored_responses + refused, unanswered_questions, cost_rows };
		addErased(prepare, erasure.id, { ...counts, ...byTriggers, ...stored });
		if (ofBudgets) addErased(prepare, erasure.id, ofBudgets);
	}

	prepare('DELETE FROM jobs WHERE ref = ? AND kind = ?').run(id, CONVERSATION_ERASURE_JOB);
	if (!hasUnerasedRows(prepare, id)) return;
	prepare(
		`INSERT INTO jobs (id, kind, ref, fair_group, due_at, attempts, lease_epoch, lease_until) VALUES (?, ?, ?, ?, 0, 0, 0, 0)`,
	).run(newId('job'), CONVERSATION_ERASURE_JOB, id, erasure?.id ?? id);
}

/** Removes the responses that show a conversation, and keeps the hashes of their requests. @returns how many */
function eraseResponses(prepare: Prepare, id: string, limit: number): number {
	const erased = prepare(
		`DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE subject = ? LIMIT ?)
		 RETURNING scope, key, body_hash, expires_at`,
	).all(id, limit) as ReceiptKey[];
	const insert = prepare(
		'INSERT OR REPLACE INTO idempotency (scope, key, body_hash, status, body, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
	);
	const { body_hash, status, body } = ERASED_RESPONSE;
	for (const request of erased) {
		insert.run(ERASED_SCOPE, hashOfRequest(request), body_hash, status, body, request.expires_at);
	}
	return erased.length;
}

/** Removes the responses to refused requests of a visitor who may have no conversation; see the write `erase_refusals`. */
export function eraseRefusals(prepare: Prepare, erasureId: string, scopes: readonly string[]): void {
	const counts = scopes.map((scope) => eraseResponsesOf(prepare, scope));
	addErased(prepare, erasureId, { stored_responses: counts.reduce((sum, count) => sum + count, 0) });
}

/** Responses to refused requests show no conversation, but their scope names the visitor. */
function eraseResponsesOf(prepare: Prepare, scope: string): number {
	const { changes } = prepare('DELETE FROM idempotency WHERE subject IS NULL AND scope >= @scope AND scope < @end').run(
		{
			scope,
			end: `${scope.slice(0, -1)}!`,
		},
	);
	return changes;
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
