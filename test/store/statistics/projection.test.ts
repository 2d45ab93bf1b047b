import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type Database from 'better-sqlite3';
import { databaseFile, openWritable } from '../../../src/store/sqlite/connection.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { type Prepare, statementsOf } from '../../../src/store/sqlite/statements.ts';
import { applyStatisticsWrite } from '../../../src/store/sqlite/statistics/index.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 1, 9);
const CONVERSATIONS = 12;

const project = (prepare: Prepare, limit = 7) => applyStatisticsWrite(prepare, { op: 'statistics.project', limit });

/** A database whose log has conversations over several days: one question and reply each, ratings, takeovers. */
async function openLog(t: TestContext): Promise<{ db: Database.Database; folder: string }> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-statistics-'));
	t.after(() => rm(folder, { recursive: true }));
	const db = openWritable(databaseFile(folder));
	t.after(() => db.close());
	migrate(db);
	db.exec(`INSERT INTO documents (id, version, workspace_id, knowledge_base_id, title, source_type, status, attempts, chunk_count, created_at, updated_at)
		VALUES ('doc_1', 1, 'ws_1', 'kb_1', 'Manual', 'text', 'indexed', 0, 1, 1, 1)`);
	for (let at = 0; at < CONVERSATIONS; at++) addConversation(db, at);
	return { db, folder };
}

function addConversation(db: Database.Database, at: number): void {
	const id = `conv_${at}`;
	const now = START + at * 0.4 * DAY;
	const answered_by = ['documents', 'none', 'tools', 'model'][at % 4] as string;
	const citations = answered_by === 'documents' ? [{ document_id: 'doc_1' }] : [];
	const base = { tool_calls: [], citations: [], conversation_id: id, status: 'completed' };
	const question = { ...base, id: `q_${at}`, role: 'user', author: { type: 'visitor' }, answered_by: null };
	const reply = {
		...{ ...base, citations, answered_by, id: `r_${at}`, role: 'assistant', author: { type: 'model' } },
		...{ model: 'm', usage: { input_tokens: 10, output_tokens: at }, first_token_ms: 10 * at, duration_ms: 100 * at },
	};
	db.exec(
		`INSERT INTO conversations (id, version, workspace_id, deployment_id, assistant_id, channel, status, metadata, handled_by, message_count, created_at, updated_at) VALUES ('${id}', 1, 'ws_1', 'dep_${at % 2}', 'asst_1', 'api', 'active', '{}', 'model', 2, ${now}, ${now})`,
	);
	const insertMessage = db.prepare(
		`INSERT INTO messages (id, version, workspace_id, conversation_id, seq, role, author, content, status, citations, tool_calls, attempts, created_at)
		 VALUES (?, 1, 'ws_1', ?, ?, ?, '{}', ?, 'completed', '[]', '[]', 1, ?)`,
	);
	insertMessage.run(question.id, id, 1, 'user', `Question ${at}?`, now);
	insertMessage.run(reply.id, id, 2, 'assistant', 'Reply.', now);
	const insertEvent = db.prepare(
		'INSERT INTO events (id, stream, type, data, subject, created_at) VALUES (?, ?, ?, ?, ?, ?)',
	);
	const add = (stream: string, type: string, data: object, when = now) =>
		insertEvent.run(`evt_${at}_${type}`, stream, type, JSON.stringify(data), id, when);
	add('ws_1', 'conversation.created', { id });
	add('ws_1', 'message.created', question);
	add(id, 'message.created', { message_id: reply.id });
	add('ws_1', 'message.created', reply, now + 100 * at);
	add('statistics_ws_1', 'message.rated', { before: null, after: at % 3 === 0 ? 'up' : 'down', rated_at: now });
	if (at % 5 === 0) add('statistics_ws_1', 'conversation.taken_over', {});
}

/** Everything that was derived from the log. */
function derived(db: Database.Database) {
	const key = 'workspace_id, series, start, figure, key, deployment_id, assistant_id';
	return {
		figures: db.prepare(`SELECT ${key}, logged + erased AS value FROM figures WHERE value <> 0 ORDER BY ${key}`).all(),
		cited: db.prepare('SELECT * FROM cited_documents ORDER BY document_id').all(),
		questions: db.prepare('SELECT message_id, question FROM unanswered_questions ORDER BY message_id').all(),
	};
}

const lastSeq = (db: Database.Database) => db.prepare('SELECT max(seq) FROM events').pluck().get() as number;
const position = (db: Database.Database) => db.prepare('SELECT seq FROM statistics_state').pluck().get() as number;

function projectAll(db: Database.Database, prepare = statementsOf(db), limit = 7): void {
	const target = lastSeq(db);
	while (position(db) < target) db.transaction(() => project(prepare, limit)).immediate();
}

test('a crash between any two steps counts nothing twice and loses nothing', async (t) => {
	const { db, folder } = await openLog(t);
	const original = join(folder, 'original.db');
	await db.backup(original);
	projectAll(db);
	const expected = derived(db);
	assert.ok(expected.figures.length > 100);
	assert.deepEqual(expected.questions.length, 3);
	for (let step = 1, crashed = true; crashed; step++) {
		const copy = join(folder, `crash-${step}.db`);
		await copyFile(original, copy);
		const crashing = openWritable(copy);
		crashed = false;
		try {
			projectAll(crashing, crashingAt(statementsOf(crashing), step), 40);
		} catch (error) {
			if ((error as Error).message !== 'crash') throw error;
			crashed = true;
		}
		// Without a commit, SQLite undoes the transaction when the file is opened again.
		crashing.close();
		const restarted = openWritable(copy);
		projectAll(restarted);
		assert.deepEqual(derived(restarted), expected, `after a crash at step ${step}`);
		restarted.close();
		await rm(copy);
	}
});

/** Statements of which one run, counted over all, throws. */
function crashingAt(prepare: Prepare, step: number): Prepare {
	let steps = 0;
	return (sql) =>
		new Proxy(prepare(sql), {
			get(statement, name) {
				const member = Reflect.get(statement, name, statement);
				if (typeof member !== 'function') return member;
				return (...args: unknown[]) => {
					if (['run', 'get', 'all'].includes(String(name)) && ++steps === step) throw new Error('crash');
					const result = Reflect.apply(member, statement, args);
					return result === statement ? statement : result;
				};
			},
		});
}
