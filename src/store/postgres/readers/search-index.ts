import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { DocumentRecord } from '../../knowledge-records.ts';
import type { ListPosition, SearchIndexReader } from '../../readers.ts';
import type {
	DocumentCoverage,
	EmbeddedText,
	Generation,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from '../../search-index.ts';
import { SELECT_GENERATION } from '../generation.ts';
import type { Sql } from '../sql.ts';

const DOCUMENT = columnsOf('documents')
	.map((column) => `doc.${column}`)
	.join(', ');

/** The rows of a dropped generation are removed later. */
const EXISTS = 'EXISTS (SELECT 1 FROM generations WHERE id = @generation)';

/** Queries about the search index that the main thread needs. */
export class PostgresSearchIndexReader implements SearchIndexReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	generation(id: string): Promise<Generation | undefined> {
		return this.#sql.get<Generation>(`${SELECT_GENERATION} WHERE g.id = @id`, { id });
	}

	/** One query, because a swap may come between two. */
	servingGeneration(knowledgeBaseId: string): Promise<Generation | undefined> {
		return this.#sql.get<Generation>(
			`${SELECT_GENERATION} WHERE g.id = (SELECT generation FROM knowledge_bases WHERE id = @id)`,
			{ id: knowledgeBaseId },
		);
	}

	async coverage(
		knowledgeBaseId: string,
		generation: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<DocumentCoverage[]> {
		const isAfter = after === undefined ? '' : ' AND (doc.created_at, doc.id) > (@after_at, @after_id)';
		// A row of the generation counts even when it does not say from which version it was built.
		const rows = await this.#sql.all<DocumentRecord & { built_from: number | null }>(
			`SELECT ${DOCUMENT}, CASE WHEN built.seq IS NOT NULL THEN coalesce(built.built_from, 0) END AS built_from
			 FROM documents doc LEFT JOIN indexed_documents built
			 ON built.generation = @generation AND built.document_id = doc.id AND ${EXISTS}
			 WHERE doc.knowledge_base_id = @knowledge_base${isAfter} ORDER BY doc.created_at, doc.id LIMIT @limit`,
			{ generation, knowledge_base: knowledgeBaseId, after_at: after?.at, after_id: after?.id, limit },
		);
		return rows.map(({ built_from, ...row }) => ({ document: decodeRow('documents', row), built_from }));
	}

	async documentCount(generation: string): Promise<number> {
		const row = await this.#sql.get<{ count: number }>(
			`SELECT count(*) AS count FROM indexed_documents WHERE generation = @generation AND ${EXISTS}`,
			{ generation },
		);
		return row?.count ?? 0;
	}

	termsAfter(generation: string, chunkId: number, limit: number): Promise<StoredTerms[]> {
		return this.#sql.all<StoredTerms>(
			`SELECT id, title_terms, body_terms FROM chunks
			 WHERE generation = @generation AND ${EXISTS} AND id > @after ORDER BY id LIMIT @limit`,
			{ generation, after: chunkId, limit },
		);
	}

	async textsAfter(generation: string, chunkId: number, limit: number): Promise<StoredText[]> {
		const rows = await this.#sql.all<StoredText & { heading_path: string }>(
			`SELECT c.id, d.title, c.heading_path, c.text FROM chunks c JOIN indexed_documents d ON d.seq = c.document
			 WHERE c.generation = @generation AND ${EXISTS} AND c.id > @after ORDER BY c.id LIMIT @limit`,
			{ generation, after: chunkId, limit },
		);
		return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
	}

	openedBasis(generation: string): Promise<OpenedBasis | undefined> {
		return this.#sql.get<OpenedBasis>(
			'SELECT id, dimensions, embedded_to FROM bases WHERE generation = @generation ORDER BY seq DESC LIMIT 1',
			{ generation },
		);
	}

	async sampleOf(basis: string): Promise<Int8Array | undefined> {
		const row = await this.#sql.get<{ sample: Buffer | null }>('SELECT sample FROM bases WHERE id = @basis', { basis });
		return row?.sample ? toInt8(row.sample) : undefined;
	}

	async embeddedTexts(
		generation: string,
		basis: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<EmbeddedText[]> {
		const rows = await this.#sql.all<{
			title: string;
			position: number;
			heading_path: string;
			text: string;
			vector: Buffer | null;
		}>(
			`SELECT d.title, c.position, c.heading_path, c.text, v.embedding AS vector
			 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 JOIN bases b ON b.id = @basis AND b.generation = d.generation
			 LEFT JOIN vectors v ON v.basis = b.id AND v.chunk = c.id
			 WHERE d.generation = @generation AND d.document_id = @document_id AND c.position > @after
			 ORDER BY c.position LIMIT @limit`,
			{ generation, basis, document_id: documentId, after, limit },
		);
		return rows.map(({ heading_path, vector, ...row }) => ({
			...row,
			heading_path: JSON.parse(heading_path) as string[],
			vector: vector === null ? new Int8Array(0) : toInt8(vector),
		}));
	}

	/** One query, because a swap may come between two. */
	async servingChunks(
		knowledgeBaseId: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<StoredChunk[]> {
		const rows = await this.#sql.all<StoredChunk & { heading_path: string }>(
			`SELECT c.id, d.document_id, c.position, c.text, c.heading_path, c.page
			 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 WHERE d.generation = (SELECT generation FROM knowledge_bases WHERE id = @knowledge_base)
			 AND d.document_id = @document_id AND c.position > @after ORDER BY c.position LIMIT @limit`,
			{ knowledge_base: knowledgeBaseId, document_id: documentId, after, limit },
		);
		return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
	}
}

function toInt8(bytes: Buffer): Int8Array {
	return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
