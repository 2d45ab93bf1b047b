import type { Database } from 'better-sqlite3';
import type { IndexWrite } from '../search-index.ts';
import { generationOf } from './generation.ts';
import { fullTextTable, repairLanguages, termsTable, vectorTable } from './search-index-tables.ts';
import { statement, statementsOf } from './statements.ts';

type WriteOf<Op extends IndexWrite['op']> = Extract<IndexWrite, { op: Op }>;

/** Vectors in one row of a vector table. Each table reserves whole rows, and most knowledge bases are small. */
const VECTORS_PER_ROW = 64;

/** Carries out one change of the search index, inside the caller's transaction. */
export function applyIndexWrite(db: Database, write: IndexWrite): void {
	if (write.op === 'index.open_generation') openGeneration(db, write);
	else if (write.op === 'index.add_document') addDocument(db, write);
	else if (write.op === 'index.copy_document') copyDocument(db, write);
	else if (write.op === 'index.remove_document') removeDocument(db, write.generation, write.document_id);
	else if (write.op === 'index.describe_documents') describeDocuments(db, write);
	else if (write.op === 'index.open_basis') openBasis(db, write);
	else if (write.op === 'index.add_vectors') addVectors(db, write);
	else if (write.op === 'index.serve_basis') serveBasis(db, write);
	else if (write.op === 'index.drop_unserved_bases') dropUnservedBases(db, write.generation);
	else dropGeneration(db, write.generation);
}

/**
 * The full-text table stores no copy of the terms. Its tokenizer is `ascii`, which splits at spaces and keeps every character
 * beyond ASCII: the analyser has already split the text into terms, and `unicode61` would treat vowel signs of Indic scripts
 * as separators.
 */
function openGeneration(db: Database, write: WriteOf<'index.open_generation'>): void {
	const { generation, knowledge_base_id, embedder } = write;
	// A reindex repairs an index without this table.
	repairLanguages(db);
	const table = fullTextTable(generation);
	statement(
		db,
		'INSERT INTO generations (id, knowledge_base_id, embedder, basis, chunk_count) VALUES (?, ?, ?, NULL, 0)',
	).run(generation, knowledge_base_id, embedder);
	db.exec(`CREATE VIRTUAL TABLE ${table} USING fts5(terms, content='', contentless_delete=1, tokenize='ascii')`);
	db.exec(`CREATE VIRTUAL TABLE ${termsTable(generation)} USING fts5vocab('${table}', 'row')`);
}

function addDocument(db: Database, write: WriteOf<'index.add_document'>): void {
	const { generation, document_id, title, url, language, chunks, basis, vectors, built_from } = write;
	removeDocument(db, generation, document_id);
	if (basis !== null && !basesOf(db, generation).includes(basis)) {
		throw new Error(`Generation ${generation} has no basis ${basis}.`);
	}
	const rows = vectors === null || basis === null ? null : rowsOf(db, basis, vectors, chunks.length);
	const document = statement(
		db,
		`INSERT INTO indexed_documents (generation, document_id, title, url, language, built_from, page_count, missing_text)
		 VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
	).run(
		generation,
		document_id,
		title,
		url,
		language,
		built_from?.version ?? null,
		built_from?.page_count ?? null,
		built_from?.missing_text ?? null,
	).lastInsertRowid;
	const insertChunk = statement(
		db,
		`INSERT INTO chunks (document, position, text, heading_path, page, title_terms, body_terms)
		 VALUES (?, ?, ?, ?, ?, ?, ?)`,
	);
	const insertTerms = statement(db, `INSERT INTO ${fullTextTable(generation)} (rowid, terms) VALUES (?, ?)`);
	const insertVector = basis === null || rows === null ? null : vectorInsert(db, basis);
	chunks.forEach((chunk, position) => {
		const path = JSON.stringify(chunk.heading_path);
		const id = insertChunk.run(
			document,
			position,
			chunk.text,
			path,
			chunk.page,
			chunk.title_terms,
			chunk.body_terms,
		).lastInsertRowid;
		// A term of a title counts twice, as it does in the vectors.
		insertTerms.run(id, `${chunk.title_terms} ${chunk.title_terms} ${chunk.body_terms}`);
		insertVector?.run(BigInt(id), rows?.[position]);
	});
	countChunks(db, generation, chunks.length);
	if (chunks.length > 0) countLanguage(db, generation, language, 1);
}

function copyDocument(db: Database, write: WriteOf<'index.copy_document'>): void {
	const { generation, from_document_id, document_id, title, url } = write;
	const from = write.from_generation ?? generation;
	removeDocument(db, generation, document_id);
	const find = 'SELECT seq, language FROM indexed_documents WHERE generation = ? AND document_id = ?';
	const source = statement(db, find).get(from, from_document_id) as
		| { seq: number; language: string | null }
		| undefined;
	if (!source) throw new Error(`There is no document ${from_document_id} in generation ${from}.`);
	const document = statement(
		db,
		'INSERT INTO indexed_documents (generation, document_id, title, url, language) VALUES (?, ?, ?, ?, ?)',
	).run(generation, document_id, title, url, source.language).lastInsertRowid;
	const copyChunk = statement(
		db,
		`INSERT INTO chunks (document, position, text, heading_path, page, title_terms, body_terms)
		 SELECT ?, position, text, heading_path, page, title_terms, body_terms FROM chunks WHERE id = ?`,
	);
	const copyTerms = statement(
		db,
		`INSERT INTO ${fullTextTable(generation)} (rowid, terms)
		 SELECT id, title_terms || ' ' || title_terms || ' ' || body_terms FROM chunks WHERE id = ?`,
	);
	const tables = from === generation ? basesOf(db, generation).map(vectorTable) : [];
	const ids = statement(db, 'SELECT id FROM chunks WHERE document = ? ORDER BY position')
		.pluck()
		.all(source.seq) as number[];
	for (const id of ids) {
		const copy = copyChunk.run(document, id).lastInsertRowid;
		copyTerms.run(copy);
		for (const table of tables) {
			const vector = statement(db, `SELECT embedding FROM ${table} WHERE rowid = ?`).pluck().get(BigInt(id));
			if (vector !== undefined) {
				statement(db, `INSERT INTO ${table} (rowid, embedding) VALUES (?, vec_int8(?))`).run(BigInt(copy), vector);
			}
		}
	}
	countChunks(db, generation, ids.length);
	if (ids.length > 0) countLanguage(db, generation, source.language, 1);
}

function removeDocument(db: Database, generation: string, documentId: string): void {
	const found = statement(
		db,
		'SELECT seq, language FROM indexed_documents WHERE generation = ? AND document_id = ?',
	).get(generation, documentId) as { seq: number; language: string | null } | undefined;
	if (found === undefined) return;
	const ids = statement(db, 'SELECT id FROM chunks WHERE document = ?').pluck().all(found.seq) as number[];
	const tables = [fullTextTable(generation), ...basesOf(db, generation).map(vectorTable)];
	for (const table of tables) {
		const remove = statement(db, `DELETE FROM ${table} WHERE rowid = ?`);
		for (const id of ids) remove.run(BigInt(id));
	}
	statement(db, 'DELETE FROM chunks WHERE document = ?').run(found.seq);
	statement(db, 'DELETE FROM indexed_documents WHERE seq = ?').run(found.seq);
	countChunks(db, generation, -ids.length);
	if (ids.length > 0) countLanguage(db, generation, found.language, -1);
}

/** The description gives a document a new version; `built_from` follows, because the content is still the same. */
function describeDocuments(db: Database, write: WriteOf<'index.describe_documents'>): void {
	const { generation, document_ids, indexed_at } = write;
	const describe = statement(
		db,
		`UPDATE documents SET chunk_count = (SELECT count(*) FROM chunks WHERE document = built.seq),
			page_count = built.page_count, language = built.language,
			error = iif(built.missing_text IS NULL, NULL, json_object('code', 'unreadable_file', 'message', built.missing_text)),
			indexed_at = @indexed_at, updated_at = @indexed_at, version = version + 1
		 FROM indexed_documents built
		 WHERE documents.id = @id AND built.generation = @generation AND built.document_id = documents.id
			AND documents.status = 'indexed' AND documents.version = built.built_from`,
	);
	const updateBuiltFrom = statement(
		db,
		'UPDATE indexed_documents SET built_from = built_from + 1 WHERE generation = ? AND document_id = ?',
	);
	for (const id of document_ids) {
		if (describe.run({ id, generation, indexed_at }).changes > 0) updateBuiltFrom.run(generation, id);
	}
}

function openBasis(db: Database, write: WriteOf<'index.open_basis'>): void {
	const { generation, basis, dimensions, trained_on, model, floor = 0, sample = null } = write;
	if (!generationOf(statementsOf(db), generation)) throw new Error(`There is no generation ${generation}.`);
	if (!Number.isInteger(dimensions) || dimensions < 1) throw new Error('A basis needs a whole number of dimensions.');
	statement(
		db,
		'INSERT INTO bases (id, generation, dimensions, trained_on, model, floor, sample) VALUES (?, ?, ?, ?, ?, ?, ?)',
	).run(basis, generation, dimensions, trained_on, model, floor, sample);
	db.exec(
		`CREATE VIRTUAL TABLE ${vectorTable(basis)} USING vec0(
			embedding int8[${dimensions}] distance_metric=cosine, chunk_size=${VECTORS_PER_ROW}
		)`,
	);
}

function addVectors(db: Database, { basis, chunk_ids, vectors }: WriteOf<'index.add_vectors'>): void {
	const rows = rowsOf(db, basis, vectors, chunk_ids.length);
	const chunkExists = statement(
		db,
		`SELECT 1 FROM chunks c JOIN indexed_documents d ON d.seq = c.document JOIN bases b ON b.generation = d.generation
		 WHERE c.id = ? AND b.id = ?`,
	);
	const remove = statement(db, `DELETE FROM ${vectorTable(basis)} WHERE rowid = ?`);
	const insert = vectorInsert(db, basis);
	chunk_ids.forEach((id, index) => {
		if (chunkExists.get(id, basis) === undefined) return;
		// After a crash between two commits of one training the same vectors are written again.
		remove.run(BigInt(id));
		insert.run(BigInt(id), rows[index]);
	});
	const last = Math.max(0, ...chunk_ids);
	statement(db, 'UPDATE bases SET embedded_to = max(embedded_to, ?) WHERE id = ?').run(last, basis);
	const changed = 'UPDATE generations SET changes = changes + 1 WHERE id = (SELECT generation FROM bases WHERE id = ?)';
	statement(db, changed).run(basis);
}

function serveBasis(db: Database, { generation, basis }: WriteOf<'index.serve_basis'>): void {
	if (!basesOf(db, generation).includes(basis)) throw new Error(`Generation ${generation} has no basis ${basis}.`);
	statement(db, 'UPDATE generations SET basis = ? WHERE id = ?').run(basis, generation);
	dropUnservedBases(db, generation);
}

function dropUnservedBases(db: Database, generation: string): void {
	const serving = generationOf(statementsOf(db), generation)?.basis;
	for (const basis of basesOf(db, generation)) if (basis !== serving) dropBasis(db, basis);
}

/** Drops every generation of a knowledge base, including a generation that is being built. */
export function dropGenerationsOf(db: Database, knowledgeBaseId: string): void {
	const sql = 'SELECT id FROM generations WHERE knowledge_base_id = ?';
	for (const id of statement(db, sql).pluck().all(knowledgeBaseId) as string[]) dropGeneration(db, id);
}

function dropGeneration(db: Database, generation: string): void {
	for (const basis of basesOf(db, generation)) dropBasis(db, basis);
	db.exec(`DROP TABLE IF EXISTS ${termsTable(generation)}; DROP TABLE IF EXISTS ${fullTextTable(generation)}`);
	statement(db, 'DELETE FROM chunks WHERE document IN (SELECT seq FROM indexed_documents WHERE generation = ?)').run(
		generation,
	);
	statement(db, 'DELETE FROM indexed_documents WHERE generation = ?').run(generation);
	statement(db, 'DELETE FROM generation_languages WHERE generation = ?').run(generation);
	statement(db, 'DELETE FROM generations WHERE id = ?').run(generation);
}

function dropBasis(db: Database, basis: string): void {
	db.exec(`DROP TABLE IF EXISTS ${vectorTable(basis)}`);
	statement(db, 'DELETE FROM bases WHERE id = ?').run(basis);
}

function basesOf(db: Database, generation: string): string[] {
	return statement(db, 'SELECT id FROM bases WHERE generation = ?').pluck().all(generation) as string[];
}

function countChunks(db: Database, generation: string, change: number): void {
	const sql = 'UPDATE generations SET chunk_count = chunk_count + ?, changes = changes + 1 WHERE id = ?';
	if (statement(db, sql).run(change, generation).changes === 0)
		throw new Error(`There is no generation ${generation}.`);
}

function countLanguage(db: Database, generation: string, language: string | null, change: number): void {
	statement(
		db,
		`INSERT INTO generation_languages (generation, language, documents) VALUES (?, ?, ?)
		 ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`,
	).run(generation, language ?? '', change);
}

function vectorInsert(db: Database, basis: string) {
	return statement(db, `INSERT INTO ${vectorTable(basis)} (rowid, embedding) VALUES (?, vec_int8(?))`);
}

/** Splits concatenated vectors into rows, after a check of their number. */
function rowsOf(db: Database, basis: string, vectors: Int8Array, count: number): Int8Array[] {
	const dimensions = statement(db, 'SELECT dimensions FROM bases WHERE id = ?').pluck().get(basis) as
		| number
		| undefined;
	if (dimensions === undefined) throw new Error(`There is no basis ${basis}.`);
	if (vectors.length !== count * dimensions) {
		throw new Error(`${count} vectors of ${dimensions} values were expected, ${vectors.length} values came.`);
	}
	return Array.from({ length: count }, (_, row) => vectors.subarray(row * dimensions, (row + 1) * dimensions));
}
