import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { AssistantsReader } from '../../readers.ts';
import type { AssistantRecord } from '../../records.ts';
import type { Prepare } from '../statements.ts';

/** Queries about assistants. */
export class SqliteAssistantsReader implements AssistantsReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async withKnowledgeBase(workspaceId: string, knowledgeBaseId: string): Promise<AssistantRecord[]> {
		return this.#attachedTo('knowledge_base_ids', workspaceId, knowledgeBaseId);
	}

	async withTool(workspaceId: string, toolId: string): Promise<AssistantRecord[]> {
		return this.#attachedTo('tool_ids', workspaceId, toolId);
	}

	async planUsage(workspaceId: string): Promise<{ assistants: number; tool_attachments: number }> {
		return this.#prepare(
			`SELECT count(*) AS assistants, coalesce(sum(json_array_length(tool_ids)), 0) AS tool_attachments
			 FROM assistants WHERE workspace_id = ? AND status = 'active'`,
		).get(workspaceId) as { assistants: number; tool_attachments: number };
	}

	#attachedTo(column: 'knowledge_base_ids' | 'tool_ids', workspaceId: string, id: string): AssistantRecord[] {
		const rows = this.#prepare(
			`SELECT ${columnsOf('assistants')} FROM assistants WHERE workspace_id = ?
			 AND EXISTS (SELECT 1 FROM json_each(${column}) WHERE value = ?)`,
		).all(workspaceId, id);
		return rows.map((row) => decodeRow('assistants', row));
	}
}
