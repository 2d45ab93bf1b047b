import { newId } from '../../src/base/index.ts';
import type { AssistantRecord, DeploymentRecord } from '../../src/store/index.ts';

const NOW = Date.UTC(2026, 10, 20);

/** A deployment record with overrides. */
export function deploymentRecord(overrides: Partial<DeploymentRecord> = {}): DeploymentRecord {
	return {
		id: newId('deployment'),
		version: 1,
		workspace_id: newId('workspace'),
		name: 'Shop',
		assistant_id: newId('assistant'),
		allowed_domains: ['shop.example'],
		appearance: {
			primary_color: '#4f46e5',
			theme: 'light',
			position: 'bottom-right',
			greeting: 'Hi! 👋 Größe?',
			suggested_questions: ['Where is my parcel?'],
		},
		features: { streaming: true, rich_content: true, jwt_required: false },
		rate_limit: { messages_per_minute: 20 },
		time_zone: 'UTC',
		jwt: null,
		status: 'active',
		created_at: NOW,
		updated_at: NOW,
		budget: null,
		visitor_budget: null,
		retention_days: null,
		...overrides,
	};
}

/** An assistant of a workspace. */
export function assistantRecord(workspaceId: string): AssistantRecord {
	return {
		id: newId('assistant'),
		version: 1,
		workspace_id: workspaceId,
		name: 'Helper',
		description: null,
		master_prompt: '',
		model: 'builtin/extractive',
		rag_settings: { top_k: 5, min_score: 0 },
		redaction: [],
		status: 'active',
		knowledge_base_ids: [],
		tool_ids: [],
		created_at: NOW,
		updated_at: NOW,
		archived_at: null,
	};
}
