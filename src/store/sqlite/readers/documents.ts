import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { DocumentRecord } from '../../knowledge-records.ts';
import type { DocumentBlob, DocumentsReader, ListPosition } from '../../readers.ts';
import type { Prepare } from '../statements.ts';
import { LIST_START } from './list.ts';

/** Queries about documents. */
export class SqliteDocumentsReader implements DocumentsReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async isBlobInUse(blob: string): Promise<boolean> {
		return this.#prepare('SELECT 1 FROM documents WHERE blob = ? LIMIT 1').get(blob) !== undefined;
	}

	async blobsOf(knowledgeBaseId: string, after: ListPosition | undefined, limit: number): Promise<DocumentBlob[]> {
		const { at, id } = after ?? LIST_START;
		return this.#prepare(
			`SELECT id, created_at, blob FROM documents WHERE knowledge_base_id = ? AND (created_at, id) > (?, ?)
			 ORDER BY created_at, id LIMIT ?`,
		).all(knowledgeBaseId, at, id, limit) as DocumentBlob[];
	}

	async indexedDuplicate({
		id,
		knowledge_base_id,
		blob,
		file_name,
		title,
	}: DocumentRecord): Promise<DocumentRecord | undefined> {
		const row = this.#prepare(
			`SELECT ${columnsOf('documents')} FROM documents
			 WHERE blob = ? AND knowledge_base_id = ? AND status = 'indexed' AND error IS NULL AND id <> ?
			 AND file_name IS ? AND (title = ? OR ? = '') LIMIT 1`,
		).get(blob, knowledge_base_id, id, file_name, title, title);
		return row === undefined ? undefined : decodeRow('documents', row);
	}
}
