import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

// The writer thread: one transaction, and so one fsync, for all commits that arrive together. In JavaScript, because a thread does not
// inherit the loader for TypeScript.

const SCHEMA = `
	CREATE TABLE IF NOT EXISTS conversations (
		id TEXT PRIMARY KEY, deployment_id TEXT NOT NULL, title TEXT, message_count INTEGER NOT NULL, created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL
	);
	CREATE TABLE IF NOT EXISTS messages (
		id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL,
		created_at INTEGER NOT NULL, completed_at INTEGER
	);
	CREATE UNIQUE INDEX IF NOT EXISTS messages_of_conversation ON messages (conversation_id, seq);
	CREATE TABLE IF NOT EXISTS events (
		seq INTEGER PRIMARY KEY, id TEXT NOT NULL, stream TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
		created_at INTEGER NOT NULL
	);
	CREATE INDEX IF NOT EXISTS events_of_stream ON events (stream, seq);
`;

const db = new Database(workerData);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(SCHEMA);
const addConversation = db.prepare('INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?)');
const addMessage = db.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)');
const endReply = db.prepare('UPDATE messages SET content = ?, completed_at = ? WHERE id = ?');
const endConversation = db.prepare('UPDATE conversations SET title = ?, updated_at = ? WHERE id = ?');
const addEvent = db.prepare('INSERT INTO events (id, stream, type, data, created_at) VALUES (?, ?, ?, ?, ?)');

parentPort.on('message', (/** @type {import('./commits.ts').CeilingCommit[]} */ commits) => {
	db.exec('BEGIN IMMEDIATE');
	for (const { conversation, messages = [], endedReply, endedConversation, events } of commits) {
		if (conversation) addConversation.run(conversation);
		for (const message of messages) addMessage.run(message);
		if (endedReply) endReply.run(endedReply);
		if (endedConversation) endConversation.run(endedConversation);
		for (const event of events) addEvent.run(event);
	}
	db.exec('COMMIT');
	parentPort.postMessage(commits.length);
});
