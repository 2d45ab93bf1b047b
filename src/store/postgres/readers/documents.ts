import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { DocumentRecord } from '../../knowledge-records.ts';
import type { DocumentBlob, DocumentsReader, ListPosition } from '../../readers.ts';
import type { Sql } from '../sql.ts';
import { LIST_START } from './list.ts';

/** Queries about documents. */
export class PostgresDocumentsReader implements DocumentsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async isBlobInUse(blob: string): Promise<boolean> {
		return (await this.#sql.get('SELECT 1 FROM documents WHERE blob = @blob LIMIT 1', { blob })) !== undefined;
	}

	blobsOf(knowledgeBaseId: string, after: ListPosition | undefined, limit: number): Promise<DocumentBlob[]> {
		return this.#sql.all(
			`SELECT id, created_at, blob FROM documents WHERE knowledge_base_id = @knowledge_base_id AND (created_at, id) > (@at, @id)
			 ORDER BY created_at, id LIMIT @limit`,
			{ knowledge_base_id: knowledgeBaseId, ...(after ?? LIST_START), limit },
		);
	}

	async indexedDuplicate({
		id,
		knowledge_base_id,
		blob,
		file_name,
		title,
	}: DocumentRecord): Promise<DocumentRecord | undefined> {
		const row = await this.#sql.get(
			`SELECT ${columnsOf('documents')} FROM documents
			 WHERE blob = @blob AND knowledge_base_id = @knowledge_base_id AND status = 'indexed' AND error IS NULL AND id <> @id
			 AND file_name IS NOT DISTINCT FROM @file_name AND (title = @title OR @title = '') LIMIT 1`,
			{ id, knowledge_base_id, blob, file_name, title },
		);
		return row === undefined ? undefined : decodeRow('documents', row);
	}
}
