import { type Clock, newId } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER } from '../../models/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import type { DocumentRecord, Generation, KnowledgeBaseRecord, Store, Write } from '../../store/index.ts';
import type { PreparedVectors } from '../embedding/index.ts';
import {
	isWorthTraining,
	MAX_SYNC_TRAINING_CHUNKS,
	RETRAIN_GROWTH_FACTOR,
	RETRAIN_UNKNOWN_SHARE,
} from '../training/training-policy.ts';
import { foldChunks } from './fold-chunks.ts';

/** What the built-in embedder needs. */
export interface TrainingDependencies {
	store: Store & { databaseFile: string };
	pool: WorkerPool;
	clock: Clock;
	/** Aborts when the server stops. */
	signal: AbortSignal;
}

/** What the knowledge base's record tells of its index. */
export type IndexFields = Pick<KnowledgeBaseRecord, 'generation'> &
	Partial<Pick<KnowledgeBaseRecord, 'embedder' | 'reindex_reason' | 'trained_at' | 'training_asked_at'>>;

/** The writes that put a document into the index, and whether the basis should be trained anew soon. */
export interface IndexChange {
	writes: Write[];
	fields: IndexFields;
	needsTraining: boolean;
	/** What the vectors were made for; where the knowledge base serves something else by now, they are worthless. */
	madeFor: { generation: string | null; basis: string | null };
}

function basisOf(generation: Generation | undefined): IndexChange['madeFor'] {
	return { generation: generation?.id ?? null, basis: generation?.basis ?? null };
}

/** The generation that is added to: an empty one of another embedder gives way to a new one. */
function targetGeneration(
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	embedder: string,
): { generation: Generation | undefined; id: string; writes: Write[]; facts: IndexFields } {
	if (serving?.embedder === embedder) {
		return { generation: serving, id: serving.id, writes: [], facts: { generation: serving.id } };
	}
	const id = newId('generation');
	const writes: Write[] = [
		{ op: 'index.open_generation', generation: id, knowledge_base_id: knowledgeBase.id, embedder },
	];
	if (serving) writes.unshift({ op: 'index.drop_generation', generation: serving.id });
	const facts = { generation: id, embedder, reindex_reason: null, trained_at: null, training_asked_at: null };
	return { generation: undefined, id, writes, facts };
}

/** Puts vectors of a provider's embedder into the index; null where more would have to be known of it. */
export async function writesWithVectors(
	store: Store,
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	{ id: document_id, title, url }: DocumentRecord,
	{ language, chunks }: ParsedDocument,
	{ embedder, vectors }: PreparedVectors,
): Promise<IndexChange | null> {
	const { generation, id, writes, facts: fields } = targetGeneration(knowledgeBase, serving, embedder);
	const done = { writes, fields, needsTraining: false, madeFor: basisOf(serving) };
	const addition = { op: 'index.add_document', generation: id, document_id, title, url, language, chunks } as const;
	const basis = generation?.basis ? await store.searchIndex.openedBasis(generation.id) : undefined;
	if (vectors === null || (basis && basis.dimensions !== vectors.dimensions)) {
		// The embedder is not to be had, or is another model by now, so questions are not compared with the index's vectors
		// either: all of it is found by words alone until it is built anew.
		writes.push({ ...addition, basis: null, vectors: null });
		return { ...done, fields: { ...fields, reindex_reason: 'vectors' } };
	}
	const { values, dimensions, opening } = vectors;
	if (basis) {
		writes.push({ ...addition, basis: basis.id, vectors: values });
		return done;
	}
	if (opening === null) return null;
	const newBasis = newId('basis');
	const model = new Uint8Array(0);
	writes.push(
		{ op: 'index.open_basis', generation: id, basis: newBasis, dimensions, trained_on: 0, model, ...opening },
		{ ...addition, basis: newBasis, vectors: values },
		{ op: 'index.serve_basis', generation: id, basis: newBasis },
	);
	return done;
}

/** Makes vectors with what was trained on the documents, or trains it anew where that is soon done. */
export async function writesWithTraining(
	{ store, pool, clock, signal }: TrainingDependencies,
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	document: DocumentRecord,
	parsed: ParsedDocument,
): Promise<IndexChange> {
	const { chunks } = parsed;
	const database = store.databaseFile;
	const madeFor = basisOf(serving);
	const { generation, id, writes, facts: fields } = targetGeneration(knowledgeBase, serving, BUILTIN_EMBEDDER);
	const { id: document_id, title, url } = document;
	const addition = { document_id, title, url, language: parsed.language, chunks };
	// What the index has of the document from an earlier time is replaced.
	const total = (generation?.chunk_count ?? 0) - document.chunk_count + chunks.length;
	const hasGrown = generation !== undefined && total >= RETRAIN_GROWTH_FACTOR * generation.trained_on;
	const trainNow = total <= MAX_SYNC_TRAINING_CHUNKS && (hasGrown || knowledgeBase.documents_pending === 1);
	if (generation?.basis && !trainNow) {
		const { vectors, unknownShare } = await foldChunks(pool, database, generation.basis, chunks, signal);
		return {
			writes: [
				{
					op: 'index.add_document',
					generation: generation.id,
					...addition,
					basis: generation.basis,
					vectors,
				},
			],
			fields,
			needsTraining:
				total > MAX_SYNC_TRAINING_CHUNKS &&
				(hasGrown || (unknownShare >= RETRAIN_UNKNOWN_SHARE && isWorthTraining(total, generation.trained_on))),
			madeFor,
		};
	}
	// Of a small knowledge base, and always of its first document, what is ready is also searched with all its own words.
	const basis = newId('basis');
	const terms = chunks.map(({ title_terms, body_terms }) => ({ title_terms, body_terms }));
	const trained = await pool.train(
		{ kind: 'train', database, generation: generation?.id ?? null, exceptDocumentId: document_id, chunks: terms },
		signal,
	);
	const trained_at = clock.now();
	writes.push({
		op: 'index.open_basis',
		generation: id,
		basis,
		dimensions: trained.dimensions,
		trained_on: trained.trained_on,
		model: trained.model,
	});
	if (trained.stored_ids.length > 0) {
		writes.push({ op: 'index.add_vectors', basis, chunk_ids: trained.stored_ids, vectors: trained.stored_vectors });
	}
	writes.push(
		{ op: 'index.add_document', generation: id, ...addition, basis, vectors: trained.vectors },
		{ op: 'index.serve_basis', generation: id, basis },
	);
	return { writes, fields: { ...fields, trained_at, training_asked_at: null }, needsTraining: false, madeFor };
}
