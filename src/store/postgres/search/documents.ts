import type { ParsedChunk } from '../../../contract/index.ts';
import type { IndexWrite } from '../../search-index.ts';
import type { Sql } from '../sql.ts';
import { storable, toJson } from '../to-json.ts';
import { requireRows } from './bases.ts';
import { beginChange, KEPT_CHANGES, requireChange } from './generations.ts';

type WriteOf<Op extends IndexWrite['op']> = Extract<IndexWrite, { op: Op }>;

export async function addDocument(sql: Sql, write: WriteOf<'index.add_document'>): Promise<void> {
	const { generation, document_id, title, url, language, chunks, basis, vectors, built_from } = write;
	const change = await requireChange(sql, generation);
	await deleteDocument(sql, generation, document_id, change);
	const dimensions = basis === null ? 0 : await dimensionsOf(sql, generation, basis);
	if (basis !== null && vectors !== null) requireRows(vectors, chunks.length, dimensions);
	await sql.run(
		`WITH document AS (
			INSERT INTO indexed_documents (generation, document_id, title, url, language, built_from, page_count, missing_text)
			VALUES (@generation, @document_id, @title, @url, @language, @built_from, @page_count, @missing_text) RETURNING seq
		), added AS (
			INSERT INTO chunks (generation, document, position, text, heading_path, page, title_terms, body_terms, term_count)
			SELECT @generation, document.seq, position, text, heading_path, page, title_terms, body_terms, term_count
			FROM document, json_to_recordset(@chunks::json) AS chunk (position bigint, text text, heading_path text, page bigint,
				title_terms text, body_terms text, term_count bigint)
			ORDER BY position RETURNING id, position, term_count
		), embedded AS (
			INSERT INTO vectors (basis, chunk, change, embedding)
			SELECT @basis, id, @change::bigint, substring(@vectors::bytea FROM (position * @dimensions + 1)::int FOR @dimensions::int)
			FROM added WHERE @vectors::bytea IS NOT NULL
		)${COUNT_ADDED}`,
		{
			...{ generation, document_id, language, change, basis, dimensions },
			...{ title: storable(title), url: url && storable(url) },
			built_from: built_from?.version,
			page_count: built_from?.page_count,
			missing_text: built_from?.missing_text,
			chunks: toJson(chunks.map(encodeChunk)),
			vectors: basis === null ? null : vectors,
		},
	);
}

export async function copyDocument(sql: Sql, write: WriteOf<'index.copy_document'>): Promise<void> {
	const { generation, from_document_id, document_id, title, url } = write;
	const from = write.from_generation ?? generation;
	const change = await requireChange(sql, generation);
	await deleteDocument(sql, generation, document_id, change);
	// The lock keeps the chunks: a removal deletes the document's row with them.
	const source = await sql.get<{ seq: number; language: string | null }>(
		'SELECT seq, language FROM indexed_documents WHERE generation = @from AND document_id = @from_document_id FOR SHARE',
		{ from, from_document_id },
	);
	if (!source) throw new Error(`There is no document ${from_document_id} in generation ${from}.`);
	await sql.run(
		`WITH document AS (
			INSERT INTO indexed_documents (generation, document_id, title, url, language)
			VALUES (@generation, @document_id, @title, @url, @language) RETURNING seq
		), added AS (
			INSERT INTO chunks (generation, document, position, text, heading_path, page, title_terms, body_terms, term_count)
			SELECT @generation, document.seq, position, text, heading_path, page, title_terms, body_terms, term_count
			FROM document, chunks WHERE chunks.document = @source ORDER BY position RETURNING id, position, term_count
		), embedded AS (
			INSERT INTO vectors (basis, chunk, change, embedding)
			SELECT v.basis, added.id, @change::bigint, v.embedding FROM added
			JOIN chunks original ON original.document = @source AND original.position = added.position
			JOIN bases b ON b.generation = @generation JOIN vectors v ON v.basis = b.id AND v.chunk = original.id
		)${COUNT_ADDED}`,
		{
			...{ generation, document_id, change, source: source.seq, language: source.language },
			...{ title: storable(title), url: url && storable(url) },
		},
	);
}

export async function removeDocument(sql: Sql, { generation, document_id }: WriteOf<'index.remove_document'>) {
	const change = await beginChange(sql, generation);
	if (change !== undefined) await deleteDocument(sql, generation, document_id, change);
}

/** The description gives a document a new version; `built_from` follows, because the content is still the same. */
export async function describeDocuments(sql: Sql, write: WriteOf<'index.describe_documents'>): Promise<void> {
	const { generation, document_ids, indexed_at } = write;
	await sql.run(
		`WITH described AS (
			UPDATE documents AS d SET chunk_count = (SELECT count(*) FROM chunks WHERE document = built.seq),
				page_count = built.page_count, language = built.language,
				error = CASE WHEN built.missing_text IS NOT NULL THEN
					json_build_object('code', 'unreadable_file', 'message', built.missing_text)::text END,
				indexed_at = @indexed_at, updated_at = @indexed_at, version = d.version + 1
			FROM indexed_documents built
			WHERE d.id = ANY(@document_ids) AND built.generation = @generation AND built.document_id = d.id
				AND d.status = 'indexed' AND d.version = built.built_from
			RETURNING built.seq
		)
		UPDATE indexed_documents AS built SET built_from = built_from + 1 FROM described WHERE built.seq = described.seq`,
		{ generation, document_ids, indexed_at },
	);
}

/** SQL: the last part of a statement with the chunks `added`. */
const COUNT_ADDED = `, languages AS (
	INSERT INTO generation_languages AS l (generation, language, documents)
	SELECT @generation, coalesce(@language, ''), 1 WHERE EXISTS (SELECT 1 FROM added)
	ON CONFLICT (generation, language) DO UPDATE SET documents = l.documents + 1
)
UPDATE generations SET chunk_count = chunk_count + added.count, added_chunks = added_chunks + added.count,
	added_terms = added_terms + added.terms
FROM (SELECT count(*) AS count, coalesce(sum(term_count), 0)::bigint AS terms FROM added) AS added WHERE id = @generation`;

/** Removes a document's chunks and vectors, and notes which chunks were removed. */
async function deleteDocument(sql: Sql, generation: string, document_id: string, change: number): Promise<void> {
	const removed = await sql.run(
		`WITH document AS (
			DELETE FROM indexed_documents WHERE generation = @generation AND document_id = @document_id RETURNING seq, language
		), removed AS (
			DELETE FROM chunks USING document WHERE chunks.document = document.seq RETURNING chunks.id
		), without_vectors AS (
			DELETE FROM vectors USING removed, bases
			WHERE bases.generation = @generation AND vectors.basis = bases.id AND vectors.chunk = removed.id
		), noted AS (
			INSERT INTO removed_chunks (generation, change, first_chunk, last_chunk)
			SELECT @generation, @change::bigint, min(id), max(id) FROM removed HAVING count(*) > 0
		), languages AS (
			UPDATE generation_languages AS l SET documents = l.documents - 1 FROM document
			WHERE l.generation = @generation AND l.language = coalesce(document.language, '') AND EXISTS (SELECT 1 FROM removed)
		)
		UPDATE generations SET chunk_count = chunk_count - (SELECT count(*) FROM removed)
		WHERE id = @generation AND EXISTS (SELECT 1 FROM removed)`,
		{ generation, document_id, change },
	);
	if (removed === 0) return;
	await sql.run('DELETE FROM removed_chunks WHERE generation = @generation AND change <= @forgotten', {
		...{ generation, forgotten: change - KEPT_CHANGES },
	});
}

/** @throws Error when the generation has no such basis */
async function dimensionsOf(sql: Sql, generation: string, basis: string): Promise<number> {
	const row = await sql.get<{ dimensions: number }>(
		'SELECT dimensions FROM bases WHERE id = @basis AND generation = @generation',
		{ basis, generation },
	);
	if (row === undefined) throw new Error(`Generation ${generation} has no basis ${basis}.`);
	return row.dimensions;
}

function encodeChunk({ text, heading_path, page, title_terms, body_terms }: ParsedChunk, position: number): object {
	// A term of a title counts twice, as it does in the vectors.
	const term_count = 2 * countWords(title_terms) + countWords(body_terms);
	return {
		...{ position, text, page, title_terms, body_terms, term_count },
		heading_path: JSON.stringify(heading_path),
	};
}

/** The number of terms in a text of the index. */
export function countWords(terms: string): number {
	return terms.match(/[^ ]+/g)?.length ?? 0;
}
