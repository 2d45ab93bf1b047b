import type { Kind, Records } from '../records.ts';

/** How a column stores a value: as it is, or as JSON text. */
type Codec = 'plain' | 'json';

type Columns<K extends Kind> = { readonly [F in keyof Required<Records[K]>]: Codec };

/** The columns of every kind of record; the table has the kind's name. */
const TABLES: { readonly [K in Kind]: Columns<K> } = {
	server_facts: {
		id: 'plain',
		version: 'plain',
		value: 'plain',
		created_at: 'plain',
	},
	workspaces: {
		id: 'plain',
		version: 'plain',
		name: 'plain',
		plan: 'plain',
		retention_days: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	api_keys: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		name: 'plain',
		hash: 'plain',
		prefix: 'plain',
		scopes: 'json',
		last_used_at: 'plain',
		expires_at: 'plain',
		created_at: 'plain',
	},
	users: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		email: 'plain',
		name: 'plain',
		role: 'plain',
		password_hash: 'plain',
		password_link_hash: 'plain',
		password_link_expires_at: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	sessions: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		user_id: 'plain',
		hash: 'plain',
		user_agent: 'plain',
		expires_at: 'plain',
		created_at: 'plain',
	},
	audit_log: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		actor_type: 'plain',
		actor_id: 'plain',
		actor_name: 'plain',
		action: 'plain',
		resource_type: 'plain',
		resource_id: 'plain',
		resource_name: 'plain',
		fields: 'json',
		path: 'plain',
		request_id: 'plain',
		address: 'plain',
		created_at: 'plain',
		expires_at: 'plain',
	},
	workspace_guards: {
		id: 'plain',
		version: 'plain',
		created_at: 'plain',
	},
	tools: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		name: 'plain',
		description: 'plain',
		type: 'plain',
		config: 'json',
		status: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	webhooks: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		url: 'plain',
		events: 'json',
		description: 'plain',
		status: 'plain',
		disabled_reason: 'plain',
		secret: 'plain',
		former_secrets: 'json',
		created_at: 'plain',
		updated_at: 'plain',
	},
	deliveries: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		webhook_id: 'plain',
		event_seq: 'plain',
		event_id: 'plain',
		event_type: 'plain',
		subject: 'plain',
		status: 'plain',
		attempts: 'plain',
		failures: 'plain',
		first_attempt_at: 'plain',
		due_at: 'plain',
		status_code: 'plain',
		error: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
		completed_at: 'plain',
	},
	delivery_attempts: {
		id: 'plain',
		version: 'plain',
		delivery_id: 'plain',
		number: 'plain',
		status_code: 'plain',
		duration_ms: 'plain',
		error: 'plain',
		answer: 'plain',
		created_at: 'plain',
	},
	assistants: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		name: 'plain',
		description: 'plain',
		master_prompt: 'plain',
		model: 'plain',
		rag_settings: 'json',
		status: 'plain',
		knowledge_base_ids: 'json',
		tool_ids: 'json',
		created_at: 'plain',
		updated_at: 'plain',
		archived_at: 'plain',
	},
	knowledge_bases: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		name: 'plain',
		description: 'plain',
		search_settings: 'json',
		generation: 'plain',
		rebuilding: 'plain',
		embedder: 'plain',
		reindex_reason: 'plain',
		problem: 'json',
		documents_total: 'plain',
		documents_pending: 'plain',
		documents_failed: 'plain',
		last_indexed_at: 'plain',
		trained_at: 'plain',
		training_asked_at: 'plain',
		tuned_on: 'plain',
		changed_chunks: 'plain',
		tuned_weight: 'plain',
		training_failures: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	documents: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		knowledge_base_id: 'plain',
		title: 'plain',
		source_type: 'plain',
		url: 'plain',
		file_name: 'plain',
		content_type: 'plain',
		size_bytes: 'plain',
		blob: 'plain',
		status: 'plain',
		error: 'json',
		attempts: 'plain',
		chunk_count: 'plain',
		page_count: 'plain',
		language: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
		indexed_at: 'plain',
		source_id: 'plain',
	},
	sources: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		knowledge_base_id: 'plain',
		type: 'plain',
		url: 'plain',
		include: 'json',
		exclude: 'json',
		max_pages: 'plain',
		depth: 'plain',
		refresh_hours: 'plain',
		state: 'plain',
		running: 'plain',
		run: 'plain',
		hosts: 'json',
		incomplete: 'plain',
		failures_in_a_row: 'plain',
		error: 'json',
		found: 'plain',
		fetched: 'plain',
		unchanged: 'plain',
		failed: 'plain',
		gone: 'plain',
		started_at: 'plain',
		finished_at: 'plain',
		next_run_at: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	source_pages: {
		id: 'plain',
		version: 'plain',
		source_id: 'plain',
		kind: 'plain',
		url: 'plain',
		fetch_url: 'plain',
		depth: 'plain',
		status: 'plain',
		error: 'json',
		http_status: 'plain',
		target_url: 'plain',
		document_id: 'plain',
		blob: 'plain',
		content: 'plain',
		etag: 'plain',
		last_modified: 'plain',
		misses: 'plain',
		attempts: 'plain',
		due_order: 'plain',
		seen_run: 'plain',
		missed_run: 'plain',
		fetched_at: 'plain',
		changed_at: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	deployments: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		name: 'plain',
		assistant_id: 'plain',
		allowed_domains: 'json',
		appearance: 'json',
		features: 'json',
		rate_limit: 'json',
		time_zone: 'plain',
		jwt: 'json',
		status: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	conversations: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		deployment_id: 'plain',
		assistant_id: 'plain',
		channel: 'plain',
		status: 'plain',
		title: 'plain',
		metadata: 'json',
		end_user_id: 'plain',
		end_user: 'json',
		handled_by: 'plain',
		taken_over_by: 'json',
		requested_person_at: 'plain',
		contact_email: 'plain',
		message_count: 'plain',
		last_message_at: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
		archived_at: 'plain',
		assignee_id: 'plain',
	},
	messages: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		conversation_id: 'plain',
		seq: 'plain',
		role: 'plain',
		author: 'json',
		content: 'plain',
		status: 'plain',
		model: 'plain',
		citations: 'json',
		tool_calls: 'json',
		usage: 'json',
		error: 'json',
		feedback: 'plain',
		feedback_comment: 'plain',
		attempts: 'plain',
		created_at: 'plain',
		completed_at: 'plain',
		answered_by: 'plain',
		first_token_ms: 'plain',
		duration_ms: 'plain',
	},
	question_groups: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		status: 'plain',
		document_id: 'plain',
		resolved_at: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
	reply_rounds: {
		id: 'plain',
		version: 'plain',
		message_id: 'plain',
		number: 'plain',
		model: 'plain',
		text: 'plain',
		usage: 'json',
		memory: 'json',
		grounding: 'json',
		created_at: 'plain',
	},
	reply_calls: {
		id: 'plain',
		version: 'plain',
		message_id: 'plain',
		round: 'plain',
		number: 'plain',
		call: 'json',
		created_at: 'plain',
	},
	notes: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		conversation_id: 'plain',
		author: 'json',
		content: 'plain',
		created_at: 'plain',
	},
	canned_replies: {
		id: 'plain',
		version: 'plain',
		workspace_id: 'plain',
		shortcut: 'plain',
		content: 'plain',
		created_at: 'plain',
		updated_at: 'plain',
	},
};

type Row = Record<string, unknown>;

const jsonColumns = Object.fromEntries(
	Object.entries(TABLES).map(([kind, columns]) => [
		kind,
		Object.entries(columns).flatMap(([name, codec]) => (codec === 'json' ? [name] : [])),
	]),
) as Record<Kind, string[]>;

/** The names of a kind's columns, in the order of its table. */
export function columnsOf(kind: Kind): string[] {
	return Object.keys(TABLES[kind]);
}

const insertions = new Map<Kind, string>();

/** The statement that inserts a record: its parameters are the columns in their order. */
export function insertionOf(kind: Kind): string {
	let sql = insertions.get(kind);
	if (sql === undefined) {
		const columns = columnsOf(kind);
		sql = `INSERT INTO ${kind} (${columns}) VALUES (${columns.map(() => '?')})`;
		insertions.set(kind, sql);
	}
	return sql;
}

/** Turns a row of the database into a record, in place. */
export function decodeRow<K extends Kind>(kind: K, row: unknown): Records[K] {
	const record = row as Row;
	for (const name of jsonColumns[kind]) {
		const text = record[name];
		record[name] = text === null ? null : JSON.parse(text as string);
	}
	return record as unknown as Records[K];
}

/** The name of a field's column. Throws for an unknown field, because SQL is built from field names. */
export function columnOf(kind: Kind, field: string): string {
	codecOf(kind, field);
	return field;
}

function codecOf(kind: Kind, field: string): Codec {
	const codec = (TABLES[kind] as Record<string, Codec>)[field];
	if (codec === undefined) throw new Error(`${kind} has no field ${field}`);
	return codec;
}

/** A value as its column stores it. Throws for an unknown field, because SQL is built from field names. */
export function encodeColumn(kind: Kind, field: string, value: unknown): unknown {
	const codec = codecOf(kind, field);
	if (value === null || value === undefined) return null;
	return codec === 'json' ? JSON.stringify(value) : value;
}
