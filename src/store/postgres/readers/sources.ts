import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { SourcePageRecord } from '../../knowledge-records.ts';
import type { SourcesReader } from '../../readers.ts';
import type { Sql, Values } from '../sql.ts';

/** Queries about the sources of knowledge bases. */
export class PostgresSourcesReader implements SourcesReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	nextPage(sourceId: string): Promise<SourcePageRecord | undefined> {
		return this.#page('source_id = @source_id AND due_order IS NOT NULL ORDER BY due_order, id LIMIT 1', {
			source_id: sourceId,
		});
	}

	pageByUrl(sourceId: string, url: string): Promise<SourcePageRecord | undefined> {
		return this.#page('source_id = @source_id AND url = @url', { source_id: sourceId, url });
	}

	pageOfDocument(documentId: string): Promise<SourcePageRecord | undefined> {
		return this.#page('document_id = @document_id', { document_id: documentId });
	}

	pageWithContent({ id, source_id }: SourcePageRecord, content: string): Promise<SourcePageRecord | undefined> {
		return this.#page(
			`source_id = @source_id AND content = @content AND id <> @id
			 AND (document_id IS NOT NULL AND misses = 0 OR status = 'removed') ORDER BY id LIMIT 1`,
			{ source_id, content, id },
		);
	}

	missedPages(sourceId: string, run: number, limit: number): Promise<SourcePageRecord[]> {
		return this.#pages(
			`source_id = @source_id AND kind = 'page' AND seen_run < @run AND missed_run < @run AND status <> 'removed' LIMIT @limit`,
			{ source_id: sourceId, run, limit },
		);
	}

	async documentCounts(sourceId: string): Promise<{ total: number; indexed: number }> {
		const counts = await this.#sql.get<{ total: number; indexed: number }>(
			`SELECT count(*) AS total, count(*) FILTER (WHERE status = 'indexed') AS indexed FROM documents WHERE source_id = @source_id`,
			{ source_id: sourceId },
		);
		return counts ?? { total: 0, indexed: 0 };
	}

	async #page(condition: string, values: Values): Promise<SourcePageRecord | undefined> {
		return (await this.#pages(condition, values))[0];
	}

	async #pages(condition: string, values: Values): Promise<SourcePageRecord[]> {
		const rows = await this.#sql.all(
			`SELECT ${columnsOf('source_pages')} FROM source_pages WHERE ${condition}`,
			values,
		);
		return rows.map((row) => decodeRow('source_pages', row));
	}
}
