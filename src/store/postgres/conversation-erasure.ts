import { newId } from '../../base/index.ts';
import { CONVERSATION_ERASURE_JOB } from '../commit.ts';
import { ERASED_RESPONSE, ERASED_SCOPE } from '../erased-request.ts';
import type { ErasureCounts } from '../erasure-record.ts';
import { eraseEvents } from './deliveries.ts';
import { addErased } from './erasures.ts';
import { eraseSpendingOfVisitor, settleErasedConversation } from './spending/index.ts';
import type { Sql } from './sql.ts';
import { countErasedConversation, eraseQuestions } from './statistics/index.ts';

/** SQL: rows of the conversation `@id` besides its record remain. */
const HAS_UNERASED_ROWS = [
	'SELECT 1 FROM events WHERE subject = @id',
	'SELECT 1 FROM events WHERE stream = @id',
	'SELECT 1 FROM idempotency WHERE subject = @id',
	'SELECT 1 FROM messages WHERE conversation_id = @id',
	'SELECT 1 FROM notes WHERE conversation_id = @id',
]
	.map((sql) => `EXISTS (${sql})`)
	.join(' OR ');

/** What is deleted, and the place that counts it. Some of it goes with its record anyway, by triggers, which count nothing. */
const DELETIONS: ReadonlyArray<readonly [place: keyof ErasureCounts, sql: string]> = [
	['conversations', 'DELETE FROM conversations WHERE id = @id'],
	['inbox_rows', 'DELETE FROM inbox_rows WHERE conversation_id = @id'],
	['inbox_rows', 'DELETE FROM inbox_reads WHERE conversation_id = @id'],
	['messages', 'DELETE FROM messages WHERE id = ANY(ARRAY(SELECT id FROM chosen))'],
	['reply_rounds', 'DELETE FROM reply_rounds WHERE message_id = ANY(ARRAY(SELECT id FROM chosen))'],
	['reply_rounds', 'DELETE FROM reply_calls WHERE message_id = ANY(ARRAY(SELECT id FROM chosen))'],
	['search_entries', 'DELETE FROM searchable_messages WHERE message_id = ANY(ARRAY(SELECT id FROM chosen))'],
	['notes', 'DELETE FROM notes WHERE id = ANY(ARRAY(SELECT id FROM notes WHERE conversation_id = @id LIMIT @limit))'],
];

/** Removes the responses that show the conversation, and keeps the hashes of their requests. */
const DELETE_RESPONSES = `
	WITH erased AS (
		DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE subject = @id LIMIT @limit)
		RETURNING scope, key, body_hash, expires_at
	), kept AS (
		INSERT INTO idempotency (scope, key, body_hash, status, body, expires_at)
		SELECT '${ERASED_SCOPE}', hash_of_request(scope, key, body_hash), '${ERASED_RESPONSE.body_hash}', ${ERASED_RESPONSE.status},
			'${ERASED_RESPONSE.body}', expires_at FROM erased
		ON CONFLICT (scope, key) DO UPDATE SET expires_at = greatest(idempotency.expires_at, excluded.expires_at)
	)
	SELECT count(*) FROM erased`;

const DELETE_ROWS = `
	WITH chosen AS MATERIALIZED (SELECT id FROM messages WHERE conversation_id = @id LIMIT @limit),
	${DELETIONS.map(([, sql], n) => `deletion_${n} AS (${sql} RETURNING 1)`).join(', ')}
	${DELETIONS.map(([place], n) => `SELECT '${place}' AS place, count(*) FROM deletion_${n}`).join(' UNION ALL ')}`;

/** What decides how a conversation is erased. */
interface Erased {
	/** The running erasure whose end user the conversation has, or had before its record was erased; null: none. */
	erasure_id: string | null;
	/** With which the scopes of the end user's stored responses begin. Null for the remaining rows of a conversation. */
	scope: string | null;
	workspace_id: string | null;
	visitor_id: string | null;
}

/** Removes a conversation, and at most `limit` of its other rows of each kind; see the write `erase_conversation`. */
export async function eraseConversation(sql: Sql, id: string, limit: number | null = null): Promise<void> {
	const { erasure_id, scope, workspace_id, visitor_id } = await lock(sql, id);
	await countErasedConversation(sql, id);
	const counts: Partial<ErasureCounts> = {
		cost_rows: await settleErasedConversation(sql, id),
		unanswered_questions: await eraseQuestions(sql, id),
	};
	const add = (place: keyof ErasureCounts, count: number) => {
		counts[place] = (counts[place] ?? 0) + count;
	};
	const addAll = (erased: Partial<ErasureCounts>) => {
		for (const [place, count] of Object.entries(erased)) add(place as keyof ErasureCounts, count);
	};
	const deleted = await sql.all<{ place: keyof ErasureCounts; count: number }>(DELETE_ROWS, { id, limit });
	for (const { place, count } of deleted) add(place, count);
	add('stored_responses', (await sql.get<{ count: number }>(DELETE_RESPONSES, { id, limit }))?.count ?? 0);
	addAll(await eraseEvents(sql, await eventsOf(sql, id, limit)));
	if (erasure_id !== null) {
		// Without an erasure of the person the sums stay: otherwise a short retention would renew the visitor's budget.
		if (workspace_id !== null && visitor_id !== null) {
			addAll(await eraseSpendingOfVisitor(sql, workspace_id, visitor_id));
		}
		if (scope !== null) add('stored_responses', await eraseResponsesOf(sql, scope));
		await addErased(sql, erasure_id, counts);
	}
	await enqueueRest(sql, id, erasure_id ?? id);
}

/** Two nodes that erase the same conversation count its rows once. Nothing is added to a conversation that is locked. */
async function lock(sql: Sql, id: string): Promise<Erased> {
	await sql.get('SELECT pg_advisory_xact_lock(hashtextextended(@name, 0))', { name: `erasure ${id}` });
	const ofRecord = await sql.get<Erased>(
		`SELECT erasures.id AS erasure_id, deployment_id || ' ' || visitor_key || ' ' AS scope, conversations.workspace_id, visitor_id
		 FROM conversations LEFT JOIN erasures ON erasures.workspace_id = conversations.workspace_id
		 AND erasures.end_user_id = conversations.end_user_id
		 WHERE conversations.id = @id FOR UPDATE OF conversations`,
		{ id },
	);
	if (ofRecord) return ofRecord;
	const ofRest = await sql.get<Pick<Erased, 'erasure_id'>>(
		'SELECT erasures.id AS erasure_id FROM jobs JOIN erasures ON erasures.id = fair_group WHERE ref = @id AND kind = @kind',
		{ id, kind: CONVERSATION_ERASURE_JOB },
	);
	return { erasure_id: ofRest?.erasure_id ?? null, scope: null, workspace_id: null, visitor_id: null };
}

async function eventsOf(sql: Sql, id: string, limit: number | null): Promise<number[]> {
	const events = await sql.all<{ seq: number }>(
		`(SELECT seq FROM events WHERE subject = @id LIMIT @limit) UNION (SELECT seq FROM events WHERE stream = @id LIMIT @limit)`,
		{ id, limit },
	);
	return events.map(({ seq }) => seq);
}

/** Removes the responses to refused requests of a visitor who may have no conversation; see the write `erase_refusals`. */
export async function eraseRefusals(sql: Sql, erasureId: string, scopes: readonly string[]): Promise<void> {
	let stored_responses = 0;
	for (const scope of scopes) stored_responses += await eraseResponsesOf(sql, scope);
	await addErased(sql, erasureId, { stored_responses });
}

/** Responses to refused requests show no conversation, but their scope names the visitor. */
function eraseResponsesOf(sql: Sql, scope: string): Promise<number> {
	return sql.run('DELETE FROM idempotency WHERE subject IS NULL AND scope >= @scope AND scope < @end', {
		scope,
		end: `${scope.slice(0, -1)}!`,
	});
}

/** Replaces the job for the remaining rows, or removes it if none remain. */
async function enqueueRest(sql: Sql, id: string, group: string): Promise<void> {
	await sql.run(
		`WITH done AS (DELETE FROM jobs WHERE ref = @id AND kind = @kind)
		 INSERT INTO jobs (id, kind, ref, fair_group, due_at, attempts, lease_epoch, lease_until)
		 SELECT @job_id, @kind, @id, @group, 0, 0, 0, 0 WHERE ${HAS_UNERASED_ROWS}`,
		{ id, kind: CONVERSATION_ERASURE_JOB, job_id: newId('job'), group },
	);
}

/** Whether any row of an erased conversation remains. */
export async function hasUnerasedRows(sql: Sql, id: string): Promise<boolean> {
	return (await sql.get<{ found: boolean }>(`SELECT ${HAS_UNERASED_ROWS} AS found`, { id }))?.found === true;
}
