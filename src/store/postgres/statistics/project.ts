import type { LoggedEvent } from '../../statistics/additions.ts';
import { EventCounter } from '../../statistics/event-counter.ts';
import type { FigureOwner, Ledger } from '../../statistics/ledger.ts';
import type { Sql } from '../sql.ts';
import { toJson } from '../to-json.ts';
import { lockState } from './state.ts';
import { storeQuestions, trimQuestions } from './unanswered.ts';

/** Events of an erased conversation that are read at once. */
const EVENTS_PER_READ = 500;
/** Events of workspaces about conversations. The streams of conversations have none of their own. */
const COUNTED = `type IN ('conversation.created', 'conversation.taken_over', 'message.created', 'message.rated')
	AND (stream LIKE 'ws\\_%' OR stream LIKE 'statistics\\_%')`;

/**
 * Counts the next events of the log, at most `limit`, and stores in the same transaction how far it came. The events of an erased
 * conversation are left out: the erasure has counted them.
 */
export async function projectEvents(sql: Sql, limit: number): Promise<void> {
	const state = await lockState(sql);
	const next = await sql.get<{ last: number | null; end: number }>(
		`SELECT (SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > @seq ORDER BY seq LIMIT @limit) AS next) AS last,
		 (SELECT seq FROM log_end) AS end`,
		{ seq: state.seq, limit },
	);
	if (next === undefined) return;
	if (next.last === null) {
		// The last events of the log were erased. One statement has read both: no event is passed over.
		await sql.run('UPDATE statistics_state SET seq = @end WHERE seq < @end', { end: next.end });
		return;
	}
	const events = await sql.all<LoggedEvent & FigureOwner>(
		`SELECT seq, type, data, subject, events.created_at, workspace_id, deployment_id, assistant_id
		 FROM events JOIN conversations ON conversations.id = subject WHERE seq > @seq AND seq <= @last AND ${COUNTED} ORDER BY seq`,
		{ seq: state.seq, last: next.last },
	);
	const counter = new EventCounter(state);
	for (const event of events) counter.add(event, event);
	await writeLedger(sql, counter.ledger);
	await recordCitations(sql, counter.citations);
	if (counter.unanswered.length > 0) {
		await trimQuestions(sql, await storeQuestions(sql, counter.unanswered));
	}
	await sql.run('UPDATE statistics_state SET seq = @last', { last: next.last });
}

/**
 * Moves the figures of a conversation that is about to be erased to those of erased conversations. Its record is locked before its
 * events are read: none is added meanwhile.
 */
export async function countErasedConversation(sql: Sql, id: string): Promise<void> {
	const owner = await sql.get<FigureOwner>(
		'SELECT workspace_id, deployment_id, assistant_id FROM conversations WHERE id = @id FOR UPDATE',
		{ id },
	);
	if (!owner) return;
	const counter = new EventCounter(await lockState(sql));
	for (let seq = 0; ; ) {
		const events = await sql.all<LoggedEvent>(
			`SELECT seq, type, data, subject, created_at FROM events WHERE subject = @id AND seq > @seq AND ${COUNTED}
			 ORDER BY seq LIMIT @limit`,
			{ id, seq, limit: EVENTS_PER_READ },
		);
		for (const event of events) counter.addErased(event, owner);
		const last = events.at(-1);
		if (last === undefined || events.length < EVENTS_PER_READ) break;
		seq = last.seq;
	}
	await writeLedger(sql, counter.ledger);
}

async function writeLedger(sql: Sql, ledger: Ledger): Promise<void> {
	const sums = ledger.sums();
	if (sums.length === 0) return;
	await sql.run(
		`INSERT INTO figures AS f (workspace_id, series, start, figure, key, deployment_id, assistant_id, logged, erased)
		 SELECT workspace_id, series, start, figure, key, deployment_id, assistant_id, logged, erased
		 FROM jsonb_populate_recordset(NULL::figures, @sums)
		 ON CONFLICT (workspace_id, series, start, figure, key, deployment_id, assistant_id)
		 DO UPDATE SET logged = f.logged + excluded.logged, erased = f.erased + excluded.erased`,
		{ sums: toJson(sums) },
	);
}

/** Notes when documents were cited, of those that still exist: no other transaction removes them meanwhile. */
async function recordCitations(sql: Sql, citations: ReadonlyMap<string, number>): Promise<void> {
	if (citations.size === 0) return;
	await sql.run(
		`INSERT INTO cited_documents AS c (document_id, last_cited_at)
		 SELECT documents.id, cited.at FROM documents JOIN unnest(@ids::text[], @times::bigint[]) AS cited (id, at) USING (id)
		 ORDER BY documents.id FOR KEY SHARE OF documents
		 ON CONFLICT (document_id) DO UPDATE SET last_cited_at = greatest(c.last_cited_at, excluded.last_cited_at)`,
		{ ids: [...citations.keys()], times: [...citations.values()] },
	);
}
