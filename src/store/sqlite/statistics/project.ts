import type { LoggedEvent } from '../../statistics/additions.ts';
import { EventCounter } from '../../statistics/event-counter.ts';
import type { FigureOwner, Ledger } from '../../statistics/ledger.ts';
import { LOG_END } from '../log-end.ts';
import type { Prepare } from '../statements.ts';
import { readState } from './state.ts';
import { storeQuestion, trimQuestions } from './unanswered.ts';

const COUNTED_TYPES = "('conversation.created', 'conversation.taken_over', 'message.created', 'message.rated')";
/** Events of workspaces about conversations. The streams of conversations have none of their own. */
const COUNTED = `type IN ${COUNTED_TYPES} AND (stream GLOB 'ws_*' OR stream GLOB 'statistics_*')`;
const COLUMNS = 'seq, type, data, subject, created_at';

/**
 * Counts the next events of the log, at most `limit`, and stores in the same transaction how far it came. The events of an erased
 * conversation are left out: the erasure has counted them.
 */
export function projectEvents(prepare: Prepare, limit: number): void {
	const state = readState(prepare);
	const last = prepare('SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?)')
		.pluck()
		.get(state.seq, limit) as number | null;
	if (last === null) {
		// The last events of the log were erased.
		prepare(`UPDATE statistics_state SET seq = max(seq, ${LOG_END})`).run();
		return;
	}
	// Without an index the events are read in their order, and the others are skipped.
	const events = prepare(
		`SELECT ${COLUMNS} FROM events NOT INDEXED WHERE seq > ? AND seq <= ? AND subject IS NOT NULL AND ${COUNTED}`,
	).all(state.seq, last) as LoggedEvent[];
	const counter = new EventCounter(state);
	const owners = new Map<string, FigureOwner | undefined>();
	for (const event of events) {
		if (!owners.has(event.subject)) owners.set(event.subject, ownerOf(prepare, event.subject));
		const owner = owners.get(event.subject);
		if (owner) counter.add(event, owner);
	}
	writeLedger(prepare, counter.ledger);
	for (const [documentId, at] of counter.citations) recordCitation(prepare, documentId, at);
	for (const reply of counter.unanswered) storeQuestion(prepare, reply);
	for (const workspaceId of new Set([...owners.values()].map((owner) => owner?.workspace_id))) {
		if (workspaceId !== undefined) trimQuestions(prepare, workspaceId);
	}
	prepare('UPDATE statistics_state SET seq = ?').run(last);
}

/** Moves the figures of a conversation that is about to be erased to those of erased conversations. */
export function countErasedConversation(prepare: Prepare, conversationId: string): void {
	const owner = ownerOf(prepare, conversationId);
	if (!owner) return;
	const events = prepare(`SELECT ${COLUMNS} FROM events WHERE subject = ? AND ${COUNTED}`).iterate(conversationId);
	const counter = new EventCounter(readState(prepare));
	for (const event of events as Iterable<LoggedEvent>) counter.addErased(event, owner);
	writeLedger(prepare, counter.ledger);
}

function ownerOf(prepare: Prepare, conversationId: string): FigureOwner | undefined {
	return prepare('SELECT workspace_id, deployment_id, assistant_id FROM conversations WHERE id = ?').get(
		conversationId,
	) as FigureOwner | undefined;
}

function writeLedger(prepare: Prepare, ledger: Ledger): void {
	const upsert = prepare(
		`INSERT INTO figures (workspace_id, series, start, figure, key, deployment_id, assistant_id, logged, erased)
		 VALUES (@workspace_id, @series, @start, @figure, @key, @deployment_id, @assistant_id, @logged, @erased)
		 ON CONFLICT DO UPDATE SET logged = logged + excluded.logged, erased = erased + excluded.erased`,
	);
	for (const sum of ledger.sums()) upsert.run(sum);
}

/** Notes that a document was cited, if it still exists. */
function recordCitation(prepare: Prepare, documentId: string, at: number): void {
	prepare(
		`INSERT INTO cited_documents (document_id, last_cited_at) SELECT id, @at FROM documents WHERE id = @documentId
		 ON CONFLICT DO UPDATE SET last_cited_at = max(last_cited_at, excluded.last_cited_at)`,
	).run({ documentId, at });
}
