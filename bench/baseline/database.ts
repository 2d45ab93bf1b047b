import Database from 'better-sqlite3';

/** A stored deployment with columns of its assistant. JSON columns are text. */
export interface DeploymentRow {
	id: string;
	assistant_id: string;
	allowed_domains: string;
	appearance: string;
	features: string;
	rate_limit: string;
	model: string;
	master_prompt: string;
}

/** A stored message. */
export interface MessageRow {
	role: 'user' | 'assistant';
	content: string;
}

const SCHEMA = `
	CREATE TABLE IF NOT EXISTS api_keys (hash TEXT PRIMARY KEY);
	CREATE TABLE IF NOT EXISTS assistants (
		id TEXT PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, master_prompt TEXT NOT NULL, created_at INTEGER NOT NULL
	);
	CREATE TABLE IF NOT EXISTS deployments (
		id TEXT PRIMARY KEY, assistant_id TEXT NOT NULL REFERENCES assistants (id), allowed_domains TEXT NOT NULL,
		appearance TEXT NOT NULL, features TEXT NOT NULL, rate_limit TEXT NOT NULL, created_at INTEGER NOT NULL
	);
	CREATE TABLE IF NOT EXISTS conversations (
		id TEXT PRIMARY KEY, deployment_id TEXT NOT NULL REFERENCES deployments (id), created_at INTEGER NOT NULL
	);
	CREATE TABLE IF NOT EXISTS messages (
		seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, conversation_id TEXT NOT NULL REFERENCES conversations (id),
		role TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL
	);
	CREATE INDEX IF NOT EXISTS messages_of_conversation ON messages (conversation_id, seq);
`;

/** The database of the conventional server: prepared statements on one connection, each write a durable transaction. */
export class BaselineDatabase implements Disposable {
	readonly #db: Database.Database;
	readonly #statements;

	/** @param file created if it does not exist */
	constructor(file: string) {
		const db = new Database(file);
		this.#db = db;
		db.pragma('journal_mode = WAL');
		db.pragma('synchronous = FULL');
		db.pragma('foreign_keys = ON');
		db.exec(SCHEMA);
		this.#statements = {
			addKey: db.prepare('INSERT OR IGNORE INTO api_keys (hash) VALUES (?)'),
			key: db.prepare('SELECT 1 FROM api_keys WHERE hash = ?'),
			addAssistant: db.prepare('INSERT INTO assistants VALUES (@id, @name, @model, @master_prompt, @created_at)'),
			addDeployment: db.prepare(
				'INSERT INTO deployments VALUES (@id, @assistant_id, @allowed_domains, @appearance, @features, @rate_limit, @created_at)',
			),
			deployment: db.prepare<[string], DeploymentRow>(
				'SELECT d.*, a.model, a.master_prompt FROM deployments d JOIN assistants a ON a.id = d.assistant_id WHERE d.id = ?',
			),
			addConversation: db.prepare('INSERT INTO conversations VALUES (@id, @deployment_id, @created_at)'),
			conversation: db.prepare<[string, string], { id: string }>(
				'SELECT id FROM conversations WHERE id = ? AND deployment_id = ?',
			),
			addMessage: db.prepare(
				'INSERT INTO messages (id, conversation_id, role, content, created_at) VALUES (@id, @conversation_id, @role, @content, @created_at)',
			),
			messages: db.prepare<[string], MessageRow>(
				'SELECT role, content FROM messages WHERE conversation_id = ? ORDER BY seq',
			),
		};
	}

	addKey(hash: string): void {
		this.#statements.addKey.run(hash);
	}

	hasKey(hash: string): boolean {
		return this.#statements.key.get(hash) !== undefined;
	}

	addAssistant(row: object): void {
		this.#statements.addAssistant.run(row);
	}

	addDeployment(row: object): void {
		this.#statements.addDeployment.run(row);
	}

	deployment(id: string): DeploymentRow | undefined {
		return this.#statements.deployment.get(id);
	}

	hasConversation(id: string, deploymentId: string): boolean {
		return this.#statements.conversation.get(id, deploymentId) !== undefined;
	}

	/** Stores the message, and a new conversation, in one transaction. */
	addMessage(message: object, conversation: object | null): void {
		this.#db
			.transaction(() => {
				if (conversation !== null) this.#statements.addConversation.run(conversation);
				this.#statements.addMessage.run(message);
			})
			.immediate();
	}

	messages(conversationId: string): MessageRow[] {
		return this.#statements.messages.all(conversationId);
	}

	[Symbol.dispose](): void {
		this.#db.close();
	}
}
