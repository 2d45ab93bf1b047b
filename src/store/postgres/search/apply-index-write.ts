import type { IndexWrite } from '../../search-index.ts';
import type { Sql } from '../sql.ts';
import { addVectors, dropUnservedBases, openBasis, serveBasis } from './bases.ts';
import { addDocument, copyDocument, describeDocuments, removeDocument } from './documents.ts';
import { dropGeneration, openGeneration } from './generations.ts';

/** Carries out one change of the search index, inside the caller's transaction. */
export async function applyIndexWrite(sql: Sql, write: IndexWrite): Promise<void> {
	switch (write.op) {
		case 'index.open_generation':
			return openGeneration(sql, write);
		case 'index.add_document':
			return addDocument(sql, write);
		case 'index.copy_document':
			return copyDocument(sql, write);
		case 'index.remove_document':
			return removeDocument(sql, write);
		case 'index.describe_documents':
			return describeDocuments(sql, write);
		case 'index.open_basis':
			return openBasis(sql, write);
		case 'index.add_vectors':
			return addVectors(sql, write);
		case 'index.serve_basis':
			return serveBasis(sql, write);
		case 'index.drop_unserved_bases':
			return dropUnservedBases(sql, write.generation);
		case 'index.drop_generation':
			return dropGeneration(sql, write.generation);
	}
}
