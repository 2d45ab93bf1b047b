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
import { generationOf, SELECT_GENERATION } from '../generation.ts';
import { vectorTable } from '../search-index-tables.ts';
import type { Prepare } from '../statements.ts';
import { LIST_START } from './list.ts';

const DOCUMENT = columnsOf('documents')
	.map((column) => `doc.${column}`)
	.join(', ');

/** Queries about the search index that the main thread needs. */
export class SqliteSearchIndexReader implements SearchIndexReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async generation(id: string): Promise<Generation | undefined> {
		return generationOf(this.#prepare, id);
	}

	/** One query, because a swap may come between two. */
	async servingGeneration(knowledgeBaseId: string): Promise<Generation | undefined> {
		const sql = `${SELECT_GENERATION} WHERE g.id = (SELECT generation FROM knowledge_bases WHERE id = ?)`;
		return this.#prepare(sql).get(knowledgeBaseId) as Generation | undefined;
	}

	async coverage(
		knowledgeBaseId: string,
		generation: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<DocumentCoverage[]> {
		const { at, id } = after ?? LIST_START;
		// A row of the generation counts even when it does not say from which version it was built.
		const rows = this.#prepare(
			`SELECT ${DOCUMENT}, iif(built.seq IS NULL, NULL, coalesce(built.built_from, 0)) AS built_from
			 FROM documents doc LEFT JOIN indexed_documents built ON built.generation = ? AND built.document_id = doc.id
			 WHERE doc.knowledge_base_id = ? AND (doc.created_at, doc.id) > (?, ?)
			 ORDER BY doc.created_at, doc.id LIMIT ?`,
		).all(generation, knowledgeBaseId, at, id, limit) as Array<DocumentRecord & { built_from: number | null }>;
		return rows.map(({ built_from, ...row }) => ({ document: decodeRow('documents', row), built_from }));
	}

	async documentCount(generation: string): Promise<number> {
		const sql = 'SELECT count(*) FROM indexed_documents WHERE generation = ?';
		return this.#prepare(sql).pluck().get(generation) as number;
	}

	async termsAfter(generation: string, chunkId: number, limit: number): Promise<StoredTerms[]> {
		return this.#prepare(
			`SELECT c.id, c.title_terms, c.body_terms FROM chunks c CROSS JOIN indexed_documents d
			 WHERE c.id > ? AND d.seq = c.document AND d.generation = ? ORDER BY c.id LIMIT ?`,
		).all(chunkId, generation, limit) as StoredTerms[];
	}

	async textsAfter(generation: string, chunkId: number, limit: number): Promise<StoredText[]> {
		const rows = this.#prepare(
			`SELECT c.id, d.title, c.heading_path, c.text FROM chunks c CROSS JOIN indexed_documents d
			 WHERE c.id > ? AND d.seq = c.document AND d.generation = ? ORDER BY c.id LIMIT ?`,
		).all(chunkId, generation, limit) as Array<StoredText & { heading_path: string }>;
		return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
	}

	async openedBasis(generation: string): Promise<OpenedBasis | undefined> {
		const sql = 'SELECT id, dimensions, embedded_to FROM bases WHERE generation = ? ORDER BY rowid DESC LIMIT 1';
		return this.#prepare(sql).get(generation) as OpenedBasis | undefined;
	}

	async sampleOf(basis: string): Promise<Int8Array | undefined> {
		const bytes = this.#prepare('SELECT sample FROM bases WHERE id = ?').pluck().get(basis) as
			| Buffer
			| null
			| undefined;
		return bytes ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : undefined;
	}

	async embeddedTexts(
		generation: string,
		basis: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<EmbeddedText[]> {
		// The table of the vectors goes with its basis, perhaps between these two queries.
		const exists = () =>
			this.#prepare('SELECT 1 FROM bases WHERE id = ? AND generation = ?').get(basis, generation) !== undefined;
		if (!exists()) return [];
		try {
			return this.#embeddedTexts(generation, basis, documentId, after, limit);
		} catch (error) {
			if (exists()) throw error;
			return [];
		}
	}

	#embeddedTexts(generation: string, basis: string, documentId: string, after: number, limit: number): EmbeddedText[] {
		const rows = this.#prepare(
			`SELECT d.title, c.position, c.heading_path, c.text,
				(SELECT embedding FROM ${vectorTable(basis)} WHERE rowid = c.id) AS vector
			 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 WHERE d.generation = ? AND d.document_id = ? AND c.position > ? ORDER BY c.position LIMIT ?`,
		).all(generation, documentId, after, limit) as Array<{
			title: string;
			position: number;
			heading_path: string;
			text: string;
			vector: Buffer | null;
		}>;
		return rows.map(({ heading_path, vector, ...row }) => ({
			...row,
			heading_path: JSON.parse(heading_path) as string[],
			vector: vector === null ? new Int8Array(0) : new Int8Array(vector.buffer, vector.byteOffset, vector.length),
		}));
	}

	/** One query, because a swap may come between two. */
	async servingChunks(
		knowledgeBaseId: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<StoredChunk[]> {
		const rows = this.#prepare(
			`SELECT c.id, d.document_id, c.position, c.text, c.heading_path, c.page
			 FROM indexed_documents d JOIN chunks c ON c.document = d.seq
			 WHERE d.generation = (SELECT generation FROM knowledge_bases WHERE id = ?) AND d.document_id = ?
			 AND c.position > ? ORDER BY c.position LIMIT ?`,
		).all(knowledgeBaseId, documentId, after, limit) as Array<StoredChunk & { heading_path: string }>;
		return rows.map((row) => ({ ...row, heading_path: JSON.parse(row.heading_path) as string[] }));
	}
}
