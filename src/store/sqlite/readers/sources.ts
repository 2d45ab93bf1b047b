import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { SourcePageRecord } from '../../knowledge-records.ts';
import type { SourcesReader } from '../../readers.ts';
import type { Prepare } from '../statements.ts';

/** Queries about the sources of knowledge bases. */
export class SqliteSourcesReader implements SourcesReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async nextPage(sourceId: string): Promise<SourcePageRecord | undefined> {
		return this.#pages('source_id = ? AND due_order IS NOT NULL ORDER BY due_order, id LIMIT 1', sourceId)[0];
	}

	async pageByUrl(sourceId: string, url: string): Promise<SourcePageRecord | undefined> {
		return this.#pages('source_id = ? AND url = ?', sourceId, url)[0];
	}

	async pageOfDocument(documentId: string): Promise<SourcePageRecord | undefined> {
		return this.#pages('document_id = ?', documentId)[0];
	}

	async pageWithContent({ id, source_id }: SourcePageRecord, content: string): Promise<SourcePageRecord | undefined> {
		return this.#pages(
			`source_id = ? AND content = ? AND (document_id IS NOT NULL AND misses = 0 OR status = 'removed') AND id <> ?
			 ORDER BY id LIMIT 1`,
			source_id,
			content,
			id,
		)[0];
	}

	async missedPages(sourceId: string, run: number, limit: number): Promise<SourcePageRecord[]> {
		return this.#pages(
			"source_id = ? AND kind = 'page' AND seen_run < ? AND missed_run < ? AND status <> 'removed' LIMIT ?",
			sourceId,
			run,
			run,
			limit,
		);
	}

	async documentCounts(sourceId: string): Promise<{ total: number; indexed: number }> {
		return this.#prepare(
			"SELECT count(*) AS total, count(iif(status = 'indexed', 1, NULL)) AS indexed FROM documents WHERE source_id = ?",
		).get(sourceId) as { total: number; indexed: number };
	}

	#pages(condition: string, ...values: unknown[]): SourcePageRecord[] {
		const rows = this.#prepare(`SELECT ${columnsOf('source_pages')} FROM source_pages WHERE ${condition}`).all(
			...values,
		);
		return rows.map((row) => decodeRow('source_pages', row));
	}
}
