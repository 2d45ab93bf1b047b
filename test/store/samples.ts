import { newId } from '../../src/base/index.ts';
import { type Kind, type NewEvent, NOTHING_ERASED, type Records } from '../../src/store/index.ts';

type Sample<K extends Kind> = Omit<Records[K], 'version'>;

/** The time of these samples, in ms since the epoch. */
export const NOON = Date.UTC(2026, 10, 20, 12);

export function assistant(given: Partial<Sample<'assistants'>> = {}): Sample<'assistants'> {
	return {
		id: newId('assistant'),
		workspace_id: 'ws_sample',
		name: 'Guide',
		description: null,
		master_prompt: 'Answer briefly.',
		model: 'builtin/extractive',
		rag_settings: { top_k: 5, min_score: 0.25 },
		redaction: ['email'],
		status: 'active',
		knowledge_base_ids: [],
		tool_ids: [],
		created_at: NOON,
		updated_at: NOON,
		archived_at: null,
		...given,
	};
}

export function knowledgeBase(given: Partial<Sample<'knowledge_bases'>> = {}): Sample<'knowledge_bases'> {
	return {
		id: newId('knowledge_base'),
		workspace_id: 'ws_sample',
		name: 'Manuals',
		description: 'All of them, “quoted” and with a 🧭.',
		search_settings: { hybrid: true, semantic_weight: null },
		generation: null,
		rebuilding: null,
		embedder: null,
		reindex_reason: null,
		problem: null,
		documents_total: 0,
		documents_pending: 0,
		documents_failed: 0,
		last_indexed_at: null,
		trained_at: null,
		training_asked_at: null,
		tuned_on: 0,
		changed_chunks: 0,
		tuned_weight: null,
		training_failures: 0,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function document(given: Partial<Sample<'documents'>> = {}): Sample<'documents'> {
	return {
		id: newId('document'),
		workspace_id: 'ws_sample',
		knowledge_base_id: 'kb_sample',
		title: 'Manual',
		source_type: 'file',
		url: null,
		file_name: 'manual.pdf',
		content_type: 'application/pdf',
		size_bytes: 25 * 1024 * 1024,
		blob: null,
		status: 'error',
		error: { code: 'unreadable_file', message: 'The file cannot be read.' },
		attempts: 1,
		chunk_count: 0,
		page_count: null,
		language: null,
		created_at: NOON,
		updated_at: NOON,
		indexed_at: null,
		source_id: null,
		...given,
	};
}

export function source(given: Partial<Sample<'sources'>> = {}): Sample<'sources'> {
	return {
		id: newId('source'),
		workspace_id: 'ws_sample',
		knowledge_base_id: 'kb_sample',
		type: 'website',
		url: 'https://shop.example/',
		include: ['/help/*'],
		exclude: [],
		max_pages: 500,
		depth: 5,
		refresh_hours: 24,
		state: 'active',
		running: 1,
		run: 3,
		hosts: ['shop.example'],
		incomplete: 0,
		failures_in_a_row: 0,
		error: null,
		found: 7,
		fetched: 6,
		unchanged: 5,
		failed: 1,
		gone: 0,
		started_at: NOON,
		finished_at: null,
		next_run_at: null,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function sourcePage(given: Partial<Sample<'source_pages'>> = {}): Sample<'source_pages'> {
	return {
		id: newId('source_page'),
		source_id: newId('source'),
		kind: 'page',
		url: 'https://shop.example/help/',
		fetch_url: 'https://shop.example/help/index.html',
		depth: 1,
		status: 'failed',
		error: { code: 'unreadable_file', message: 'The page answered with status 503.' },
		http_status: 503,
		target_url: null,
		document_id: null,
		blob: null,
		content: null,
		etag: '"1"',
		last_modified: null,
		misses: 0,
		attempts: 0,
		due_order: null,
		seen_run: 3,
		missed_run: 0,
		fetched_at: NOON,
		changed_at: null,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function conversation(given: Partial<Sample<'conversations'>> = {}): Sample<'conversations'> {
	return {
		id: newId('conversation'),
		workspace_id: 'ws_sample',
		deployment_id: 'dep_sample',
		assistant_id: 'asst_sample',
		channel: 'widget',
		status: 'active',
		title: null,
		metadata: { page: '/prices', nested: { list: [1, null, 'x'] } },
		end_user_id: null,
		end_user: null,
		handled_by: 'model',
		taken_over_by: null,
		requested_person_at: null,
		contact_email: null,
		message_count: 0,
		last_message_at: null,
		created_at: NOON,
		updated_at: NOON,
		archived_at: null,
		assignee_id: null,
		cost_micros: 1_250,
		visitor_id: null,
		...given,
	};
}

export function message(given: Partial<Sample<'messages'>> = {}): Sample<'messages'> {
	return {
		id: newId('message'),
		workspace_id: 'ws_sample',
		conversation_id: 'conv_sample',
		seq: 1,
		role: 'assistant',
		author: { type: 'model', name: null },
		content: 'It costs 5 €.\n',
		status: 'completed',
		model: 'builtin/extractive',
		citations: [
			{ index: 1, document_id: 'doc_sample', title: 'Prices', url: null, page: 2, text: 'It costs 5 €.', score: 0.75 },
		],
		tool_calls: [],
		usage: { input_tokens: 12, output_tokens: 5 },
		error: null,
		feedback: 'up',
		feedback_comment: 'Just what I wanted to know.',
		attempts: 1,
		created_at: NOON,
		completed_at: NOON + 1,
		answered_by: 'documents',
		first_token_ms: 12,
		duration_ms: 34,
		cost_micros: 17,
		...given,
	};
}

export function note(given: Partial<Sample<'notes'>> = {}): Sample<'notes'> {
	return {
		id: newId('note'),
		workspace_id: 'ws_sample',
		conversation_id: 'conv_sample',
		author: { id: 'user_sample', name: 'Anna' },
		content: 'She has called twice.',
		created_at: NOON,
		...given,
	};
}

export function cannedReply(given: Partial<Sample<'canned_replies'>> = {}): Sample<'canned_replies'> {
	return {
		id: newId('canned_reply'),
		workspace_id: 'ws_sample',
		shortcut: 'hours',
		content: 'We are open from ten to six.',
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function replyRound(given: Partial<Sample<'reply_rounds'>> = {}): Sample<'reply_rounds'> {
	const message_id = given.message_id ?? newId('message');
	return {
		id: `${message_id}.1`,
		message_id,
		number: 1,
		model: 'local/small',
		text: 'One moment.',
		usage: { input_tokens: 12, output_tokens: 5 },
		memory: [{ type: 'reasoning', text: 'Hm.', metadata: null }],
		grounding: { passages: [], confidence: 0 },
		created_at: NOON,
		...given,
	};
}

export function questionGroup(given: Partial<Sample<'question_groups'>> = {}): Sample<'question_groups'> {
	return {
		id: newId('unanswered'),
		workspace_id: 'ws_sample',
		status: 'resolved',
		document_id: 'doc_sample',
		resolved_at: NOON,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function replyCall(given: Partial<Sample<'reply_calls'>> = {}): Sample<'reply_calls'> {
	const message_id = given.message_id ?? newId('message');
	return {
		id: `${message_id}.call.1`,
		message_id,
		round: 1,
		number: 1,
		call: {
			id: 'call_1',
			tool_id: 'tool_sample',
			name: 'order_status',
			arguments: { order: '4711' },
			result: null,
			status: 'running',
			duration_ms: null,
		},
		created_at: NOON,
		...given,
	};
}

export function deployment(given: Partial<Sample<'deployments'>> = {}): Sample<'deployments'> {
	return {
		id: newId('deployment'),
		workspace_id: 'ws_sample',
		name: 'Shop',
		assistant_id: 'asst_sample',
		allowed_domains: ['shop.example', '*.shop.example:*'],
		appearance: {
			primary_color: '#4f46e5',
			theme: 'light',
			position: 'bottom-right',
			greeting: 'Hello!',
			suggested_questions: [],
		},
		features: { streaming: true, rich_content: true, jwt_required: false },
		rate_limit: { messages_per_minute: 20 },
		time_zone: 'Europe/London',
		jwt: {
			algorithm: 'HS256',
			secret: 'sealed',
			public_key: null,
			jwks_url: null,
			audience: 'shop',
			issuer: null,
		},
		status: 'active',
		created_at: NOON,
		updated_at: NOON,
		budget: null,
		visitor_budget: { amount_micros: 10_000, period: 'day', at_limit: 'refuse' },
		retention_days: null,
		...given,
	};
}

export function apiKey(given: Partial<Sample<'api_keys'>> = {}): Sample<'api_keys'> {
	const id = newId('api_key');
	return {
		id,
		workspace_id: 'ws_sample',
		name: 'CI',
		hash: `hash of ${id}`,
		prefix: 'sk_12345',
		scopes: ['*'],
		last_used_at: null,
		expires_at: NOON,
		created_at: NOON,
		...given,
	};
}

export function user(given: Partial<Sample<'users'>> = {}): Sample<'users'> {
	const id = newId('user');
	return {
		id,
		workspace_id: 'ws_sample',
		email: `${id}@example.com`,
		name: 'Ada',
		role: 'owner',
		password_hash: null,
		password_link_hash: `hash of ${id}`,
		password_link_expires_at: NOON,
		totp: null,
		oidc_issuer: 'https://login.example',
		oidc_subject: `subject of ${id}`,
		deactivated_at: NOON,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function session(given: Partial<Sample<'sessions'>> = {}): Sample<'sessions'> {
	const id = newId('session');
	return {
		id,
		workspace_id: 'ws_sample',
		user_id: 'user_sample',
		hash: `hash of ${id}`,
		user_agent: 'Browser/1.0',
		signed_in_by: 'oidc',
		expires_at: NOON,
		created_at: NOON,
		...given,
	};
}

export function tool(given: Partial<Sample<'tools'>> = {}): Sample<'tools'> {
	return {
		id: newId('tool'),
		workspace_id: 'ws_sample',
		name: 'order_status',
		description: null,
		type: 'api',
		config: { method: 'GET', url: 'https://shop.example/orders/{id}' },
		status: 'active',
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function webhook(given: Partial<Sample<'webhooks'>> = {}): Sample<'webhooks'> {
	return {
		id: newId('webhook'),
		workspace_id: 'ws_sample',
		url: 'https://hooks.example/parley',
		events: ['message.created'],
		description: null,
		status: 'active',
		disabled_reason: null,
		secret: 'sealed',
		former_secrets: [],
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function delivery(given: Partial<Sample<'deliveries'>> = {}): Sample<'deliveries'> {
	return {
		id: newId('delivery'),
		workspace_id: 'ws_sample',
		webhook_id: newId('webhook'),
		event_seq: 1,
		event_id: newId('event'),
		event_type: 'message.created',
		subject: null,
		status: 'failed',
		attempts: 2,
		failures: 2,
		first_attempt_at: NOON,
		due_at: null,
		status_code: 500,
		error: 'The endpoint answered with status 500.',
		created_at: NOON,
		updated_at: NOON,
		completed_at: NOON,
		...given,
	};
}

export function deliveryAttempt(given: Partial<Sample<'delivery_attempts'>> = {}): Sample<'delivery_attempts'> {
	return {
		id: newId('delivery_attempt'),
		delivery_id: newId('delivery'),
		number: 1,
		status_code: 500,
		duration_ms: 12,
		error: 'The endpoint answered with status 500.',
		answer: 'Oops.',
		created_at: NOON,
		...given,
	};
}

export function workspace(given: Partial<Sample<'workspaces'>> = {}): Sample<'workspaces'> {
	return {
		id: newId('workspace'),
		name: 'Acme',
		plan: 'unlimited',
		retention_days: null,
		budget: { amount_micros: 5_000_000, period: 'month', at_limit: 'fallback' },
		require_totp: false,
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function event(stream: string, type = 'message.created', data: unknown = { n: 1 }): NewEvent {
	return { id: newId('event'), stream, type, data, created_at: NOON };
}

export function auditRecord(given: Partial<Sample<'audit_log'>> = {}): Sample<'audit_log'> {
	return {
		id: newId('audit_record'),
		workspace_id: 'ws_sample',
		actor_type: 'user',
		actor_id: 'user_sample',
		actor_name: 'Ada',
		action: 'updateAssistant',
		resource_type: 'assistant',
		resource_id: 'asst_sample',
		resource_name: 'Kettle help',
		fields: ['name'],
		path: '/api/v1/assistants/asst_sample',
		request_id: 'req_sample',
		address: '203.0.113.7',
		created_at: NOON,
		expires_at: NOON,
		details: { conversations: 2 },
		...given,
	};
}

export function erasure(given: Partial<Sample<'erasures'>> = {}): Sample<'erasures'> {
	return {
		id: newId('erasure'),
		workspace_id: 'ws_sample',
		status: 'erasing',
		end_user_id: newId('request'),
		visitor_key: 'subject hash',
		counts: NOTHING_ERASED,
		erased_at: null,
		completed_at: null,
		backups: { backups_gone_at: NOON, upgrade_copies_gone_at: null },
		created_at: NOON,
		updated_at: NOON,
		...given,
	};
}

export function budgetNotice(given: Partial<Sample<'budget_notices'>> = {}): Sample<'budget_notices'> {
	return {
		id: newId('request'),
		workspace_id: 'ws_sample',
		account: 'dep_sample',
		created_at: NOON,
		expires_at: NOON,
		...given,
	};
}
