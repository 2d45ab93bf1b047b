import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { AssistantsReader } from '../../readers.ts';
import type { AssistantRecord } from '../../records.ts';
import type { Sql } from '../sql.ts';

/** Queries about assistants. */
export class PostgresAssistantsReader implements AssistantsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	withKnowledgeBase(workspaceId: string, knowledgeBaseId: string): Promise<AssistantRecord[]> {
		return this.#attachedTo('knowledge_base_ids', workspaceId, knowledgeBaseId);
	}

	withTool(workspaceId: string, toolId: string): Promise<AssistantRecord[]> {
		return this.#attachedTo('tool_ids', workspaceId, toolId);
	}

	async planUsage(workspaceId: string): Promise<{ assistants: number; tool_attachments: number }> {
		const usage = await this.#sql.get<{ assistants: number; tool_attachments: number }>(
			`SELECT count(*) AS assistants, coalesce(sum(json_array_length(tool_ids::json)), 0)::bigint AS tool_attachments
			 FROM assistants WHERE workspace_id = @workspace_id AND status = 'active'`,
			{ workspace_id: workspaceId },
		);
		return usage ?? { assistants: 0, tool_attachments: 0 };
	}

	async #attachedTo(
		column: 'knowledge_base_ids' | 'tool_ids',
		workspaceId: string,
		id: string,
	): Promise<AssistantRecord[]> {
		const rows = await this.#sql.all(
			`SELECT ${columnsOf('assistants')} FROM assistants WHERE workspace_id = @workspace_id AND ${column}::jsonb ? @id`,
			{ workspace_id: workspaceId, id },
		);
		return rows.map((row) => decodeRow('assistants', row));
	}
}
