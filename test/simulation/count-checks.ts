import type { Database } from 'better-sqlite3';
import type { InboxUser } from '../../src/inbox/index.ts';
import { checkStatement } from './check-statements.ts';
import { MAX_CLOCK_OFFSET_MS } from './cluster/cluster-plan.ts';
import type { Ledger } from './ledger.ts';
import { START } from './scheduler.ts';
import { CALLER } from './simulated-api.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { require } from './violation.ts';

/** Before all messages, whatever the clock of the node that stores them. */
const SINCE = START - MAX_CLOCK_OFFSET_MS - 1;
export const READER: InboxUser = { workspaceId: CALLER.workspaceId, id: CALLER.credentialId, since: SINCE };

interface CountedConversation {
	id: string;
	messages: number;
	waiting_since: number | null;
}

/** A visitor waits after a takeover, from the first message since the last reply, unless the conversation is archived. */
const CONVERSATIONS = `SELECT id,
	(SELECT count(*) FROM messages WHERE conversation_id = conversations.id) AS messages,
	(SELECT created_at FROM messages WHERE conversation_id = conversations.id
		AND conversations.handled_by = 'human' AND conversations.status = 'active'
		AND seq > coalesce((
			SELECT max(seq) FROM messages WHERE conversation_id = conversations.id AND role = 'assistant'
		), 0) ORDER BY seq LIMIT 1) AS waiting_since
	FROM conversations ORDER BY id`;

/** The figures are those of a count of all events, erased conversations included. */
export function checkStatistics(db: Database, counts: Record<string, number>): void {
	const sum = checkStatement(
		db,
		"SELECT coalesce(sum(logged + erased), 0) FROM figures WHERE series = 'day' AND figure = ? AND key = ?",
	).pluck();
	const expected = [
		['conversations', '', counts.conversations],
		['takeovers', '', counts.takeovers],
		['messages', 'visitor', counts.visitor],
		['messages', 'model', counts.model],
		['messages', 'human', counts.human],
	] as const;
	for (const [figure, key, count] of expected) {
		const found = sum.get(figure, key);
		require(found === count, () => `the figure ${figure} ${key} is ${found}, and the log has ${count}`);
	}
}

/** What the inbox counts is what a count of the messages gives. */
export async function checkInbox(server: SimulatedServer, db: Database, ledger: Ledger): Promise<void> {
	const conversations = checkStatement(db, CONVERSATIONS).all() as CountedConversation[];
	let unread = 0;
	let hasUncertainReads = false;
	for (const { id, messages, waiting_since } of conversations) {
		const entry = await server.inbox.entry(READER, id);
		const read = [...(ledger.read.get(id) ?? [0])];
		hasUncertainReads ||= read.length > 1;
		const expected = read.map((seq) => messages - Math.min(seq, messages));
		require(expected.includes(entry.unread_count), () => {
			return `${id} has ${entry.unread_count} unread messages, and ${expected.join(' or ')} by a count`;
		});
		const since = waiting_since === null ? null : new Date(waiting_since).toISOString();
		require(entry.waiting_since === since, () => `${id} waits since ${entry.waiting_since}, not ${since}`);
		if (entry.unread_count > 0 && entry.conversation.status === 'active') unread++;
	}
	const counts = await server.inbox.counts(READER, null);
	const waiting = conversations.filter(({ waiting_since }) => waiting_since !== null).length;
	require(hasUncertainReads || counts.unread === unread, () =>
		`the inbox counts ${counts.unread} unread, not ${unread}`);
	require(counts.waiting === waiting, () => `the inbox counts ${counts.waiting} who wait, not ${waiting}`);
}
