import type { Prepare } from '../statements.ts';
import { type Addition, additionsOf, type LoggedEvent, unansweredReply } from './additions.ts';
import { bucketsOf, type FigureOwner, Ledger } from './ledger.ts';
import { isKeptByRebuild, readState, type StatisticsState } from './state.ts';
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
	if (last === null) return;
	// Without an index the events are read in their order, and the others are skipped.
	const events = prepare(
		`SELECT ${COLUMNS} FROM events NOT INDEXED WHERE seq > ? AND seq <= ? AND subject IS NOT NULL AND ${COUNTED}`,
	).all(state.seq, last) as LoggedEvent[];
	const ledger = new Ledger();
	const owners = new Map<string, FigureOwner | undefined>();
	for (const event of events) {
		if (!owners.has(event.subject)) owners.set(event.subject, ownerOf(prepare, event.subject));
		const owner = owners.get(event.subject);
		if (owner) countEvent(prepare, ledger, owner, event, state);
	}
	ledger.write(prepare);
	for (const workspaceId of new Set([...owners.values()].map((owner) => owner?.workspace_id))) {
		if (workspaceId !== undefined) trimQuestions(prepare, workspaceId);
	}
	prepare('UPDATE statistics_state SET seq = ?').run(last);
}

function countEvent(
	prepare: Prepare,
	ledger: Ledger,
	owner: FigureOwner,
	event: LoggedEvent,
	state: StatisticsState,
): void {
	for (const addition of additionsOf(event)) {
		for (const bucket of bucketsOf(addition)) {
			if (!isKeptByRebuild(state, event.seq, bucket)) ledger.add(owner, bucket, addition, 'logged', addition.value);
		}
		if (addition.figure === 'cited') recordCitation(prepare, addition);
	}
	const reply = unansweredReply(event);
	if (reply !== null) storeQuestion(prepare, owner, event.subject, reply);
}

/**
 * Moves the figures of a conversation that is about to be erased to those of erased conversations, where a rebuild from the log
 * leaves them. Events that were not counted yet are counted there.
 */
export function countErasedConversation(prepare: Prepare, conversationId: string): void {
	const owner = ownerOf(prepare, conversationId);
	if (!owner) return;
	const state = readState(prepare);
	const events = prepare(`SELECT ${COLUMNS} FROM events WHERE subject = ? AND ${COUNTED}`).iterate(conversationId);
	const ledger = new Ledger();
	for (const event of events as Iterable<LoggedEvent>) {
		for (const addition of additionsOf(event)) {
			for (const bucket of bucketsOf(addition)) {
				const isLogged = event.seq <= state.seq || isKeptByRebuild(state, event.seq, bucket);
				if (isLogged) ledger.add(owner, bucket, addition, 'logged', -addition.value);
				ledger.add(owner, bucket, addition, 'erased', addition.value);
			}
		}
	}
	ledger.write(prepare);
}

function ownerOf(prepare: Prepare, conversationId: string): FigureOwner | undefined {
	return prepare('SELECT workspace_id, deployment_id, assistant_id FROM conversations WHERE id = ?').get(
		conversationId,
	) as FigureOwner | undefined;
}

/** Notes that a document was cited, if it still exists. */
function recordCitation(prepare: Prepare, { key: documentId, at }: Addition): void {
	prepare(
		`INSERT INTO cited_documents (document_id, last_cited_at) SELECT id, @at FROM documents WHERE id = @documentId
		 ON CONFLICT DO UPDATE SET last_cited_at = max(last_cited_at, excluded.last_cited_at)`,
	).run({ documentId, at });
}
