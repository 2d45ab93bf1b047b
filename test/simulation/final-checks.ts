import type { Database } from 'better-sqlite3';
import { checkStatement } from './check-statements.ts';
import { tablesOf } from './database.ts';
import type { Follower } from './follower.ts';
import type { Ledger, SentMessage } from './ledger.ts';
import type { SimulatedModel } from './simulated-model.ts';
import { require } from './violation.ts';

/** Columns that name a conversation. */
const CONVERSATION_COLUMNS = ['conversation_id', 'subject', 'stream', 'ref'];

export interface EndState {
	db: Database;
	ledger: Ledger;
	model: SimulatedModel;
	followers: readonly Follower[];
	/** Conversations that were erased or have expired. */
	erased: ReadonlySet<string>;
	/** Conversations that a person has ever handled. */
	takenOver: ReadonlySet<string>;
}

interface StoredMessage {
	id: string;
	conversation_id: string;
	seq: number;
	role: string;
	author: string;
	content: string;
	status: string;
}

/** Checks the end of a simulation, when nothing runs any more, against what the clients know. */
export function checkEnd(end: EndState): void {
	const { db } = end;
	const messages = checkStatement(
		db,
		`SELECT id, conversation_id, seq, role, author ->> 'type' AS author, content, status FROM messages
			 ORDER BY conversation_id, seq`,
	).all() as StoredMessage[];
	for (const { id, status } of messages) require(status !== 'in_progress', () => `the reply ${id} has no end`);
	checkSentMessages(end, messages);
	checkAgents(end, messages);
	checkReplies(end, messages);
	checkFollowers(end, messages);
	checkErasures(end);
	checkDeliveries(db);
	for (const [key, count] of end.model.toolExecutions)
		require(count === 1, () => `the call ${key} is made ${count} times`);
}

/** Nothing acknowledged is lost, and nothing is doubled. */
function checkSentMessages({ ledger, db, takenOver }: EndState, messages: readonly StoredMessage[]): void {
	const byContent = new Map<string, StoredMessage[]>();
	for (const message of messages) {
		if (message.role !== 'user') continue;
		byContent.set(message.content, [...(byContent.get(message.content) ?? []), message]);
	}
	const sentContents = new Set(ledger.sent.map(({ content }) => content));
	for (const content of byContent.keys()) require(sentContents.has(content), () => `no visitor has sent '${content}'`);
	for (const sent of ledger.sent) {
		const stored = byContent.get(sent.content) ?? [];
		checkCount(sent, stored.length);
		if (sent.questionId === null) continue;
		const question = stored.find(({ id }) => id === sent.questionId);
		if (question === undefined) {
			require(ledger.erasedMessages.has(sent.questionId), () => `the acknowledged '${sent.content}' is lost`);
			continue;
		}
		const isTakenOver = takenOver.has(question.conversation_id);
		require(sent.idForPerson !== question.id || isTakenOver, () =>
			`'${sent.content}' got no reply, although no person took over`);
		if (sent.replyId === null) continue;
		const reply = messages.find(({ id }) => id === sent.replyId);
		require(reply?.seq === question.seq + 1 && reply.conversation_id === question.conversation_id, () => {
			return `the acknowledged reply ${sent.replyId} does not follow '${sent.content}'`;
		});
		const { content } = (sent.response ?? {}) as { content?: string };
		require(content === undefined || content === reply.content, () => `the reply to '${sent.content}' has changed`);
	}
	const orphans = checkStatement(
		db,
		'SELECT id FROM messages WHERE conversation_id NOT IN (SELECT id FROM conversations)',
	).all();
	require(orphans.length === 0, () => `messages without a conversation: ${JSON.stringify(orphans)}`);
}

function checkCount({ content, key, questionId, uncertain }: SentMessage, count: number): void {
	const most = key === null ? uncertain : Math.min(1, uncertain);
	require(count <= most || (count === 1 && questionId !== null), () => `'${content}' is stored ${count} times`);
}

function checkAgents({ ledger, erased, db }: EndState, messages: readonly StoredMessage[]): void {
	for (const [id, { conversationId, content }] of ledger.agentMessages) {
		const stored = messages.find((message) => message.id === id);
		require(stored?.content === content || erased.has(conversationId), () => `the acknowledged '${content}' is lost`);
	}
	for (const { author, content } of messages) {
		if (author !== 'human') continue;
		const said = ledger.agentContents.get(content);
		const count = messages.filter((message) => message.content === content).length;
		require(said !== undefined, () => `no person has sent '${content}'`);
		require(count <= (said.key === null ? said.attempts : 1), () => `'${content}' is stored ${count} times`);
	}
	const version = checkStatement(db, 'SELECT version FROM conversations WHERE id = ?').pluck();
	for (const { conversationId, version: acknowledged } of ledger.changes) {
		const found = version.get(conversationId) as number | undefined;
		const isThere = found === undefined ? erased.has(conversationId) : found >= acknowledged;
		require(isThere, () => `version ${acknowledged} of ${conversationId} is acknowledged, and ${found} is stored`);
	}
}

/** Each paragraph of a reply is the text of one call of the model for its question: whole, or its beginning at the end of the reply. */
function checkReplies({ model }: EndState, messages: readonly StoredMessage[]): void {
	for (const [at, reply] of messages.entries()) {
		if (reply.author !== 'model' || reply.content === '') continue;
		const question = messages[at - 1] as StoredMessage;
		const texts = model.calls.filter((call) => call.question === question.content).map(({ text }) => text);
		const paragraphs = reply.content.split('\n\n');
		for (const [index, paragraph] of paragraphs.entries()) {
			const mayBeCut = index === paragraphs.length - 1 && reply.status !== 'completed';
			const fits = (text: string) => (mayBeCut ? text.startsWith(paragraph) : text === paragraph);
			require(texts.some(fits), () => `the model has not written '${paragraph}' of ${reply.id}: ${texts.join(' | ')}`);
		}
	}
}

/** What a client shows is what is stored. */
function checkFollowers({ followers, erased }: EndState, messages: readonly StoredMessage[]): void {
	for (const { name, view, conversationId, earlierMessages, hasEnded, reading } of followers) {
		if (erased.has(conversationId)) {
			require(reading === null, () => `${name} still follows an erased conversation`);
			continue;
		}
		require(!hasEnded, () => `${name} was refused`);
		const stored = messages.filter((message) => message.conversation_id === conversationId);
		for (const { id, content, status } of stored) {
			const shown = view.messages.get(id);
			if (shown === undefined && earlierMessages.has(id)) continue;
			require(shown?.text === content && shown.status === status, () => {
				return `${name} shows '${shown?.text}' (${shown?.status}) for ${id}, which is '${content}' (${status})`;
			});
		}
		// A failed reply that was written again comes where it began, or where it was written again.
		const isCompared = ({ id, author }: StoredMessage) => author !== 'model' && !earlierMessages.has(id);
		const expected = stored.filter(isCompared).map(({ id }) => id);
		const order = [...view.messages.keys()].filter((id) => expected.includes(id));
		require(order.join() === expected.join(), () => `${name} shows the messages in the order ${order.join()}`);
	}
}

function checkErasures({ db, ledger, erased }: EndState): void {
	for (const id of ledger.purgesAcknowledged) require(erased.has(id), () => `the erasure of ${id} was not made`);
	const receipts = checkStatement(
		db,
		"SELECT count(*) FROM idempotency WHERE instr(coalesce(pending, '') || coalesce(body, ''), ?) > 0",
	).pluck();
	for (const id of erased) require(receipts.get(id) === 0, () => `a stored response still has the erased ${id}`);
	if (erased.size === 0) return;
	for (const table of tablesOf(db)) {
		const names = checkStatement(db, 'SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[];
		const columns = names.filter((name) => CONVERSATION_COLUMNS.includes(name));
		if (table === 'conversations') columns.push('id');
		for (const column of columns) {
			const find = checkStatement(db, `SELECT count(*) FROM "${table}" WHERE "${column}" = ?`).pluck();
			for (const id of erased) require(find.get(id) === 0, () => `${table}.${column} still has the erased ${id}`);
		}
	}
}

/** Each event of the workspace has one delivery for its endpoint. */
function checkDeliveries(db: Database): void {
	const missing = checkStatement(
		db,
		`SELECT seq, type FROM events WHERE stream GLOB 'ws_*'
			 AND (SELECT count(*) FROM deliveries WHERE event_seq = events.seq) <> 1`,
	).all();
	require(missing.length === 0, () => `events without their delivery: ${JSON.stringify(missing)}`);
}
