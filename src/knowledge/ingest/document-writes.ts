import { type Clock, newId } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import { BUILTIN_EMBEDDER } from '../../models/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import type { DocumentRecord, Generation, KnowledgeBaseRecord, Store, Write } from '../../store/index.ts';
import type { PreparedVectors } from '../embedding/index.ts';
import {
	hasOutgrownBasis,
	hasUnknownWords,
	isTuningExpected,
	UNTRAINED,
	UNTUNED,
} from '../training/training-policy.ts';
import { foldChunks } from './fold-chunks.ts';

/** The dependencies of the built-in embedder. */
export interface TrainingDependencies {
	store: Store & { searchDatabase: string };
	pool: WorkerPool;
	clock: Clock;
	/** Chunks up to which a training is part of the indexing. */
	maxSyncTrainingChunks: number;
	/** Aborts when the server stops. */
	signal: AbortSignal;
}

/** The index fields of the knowledge base's record. */
export type IndexFields = Pick<KnowledgeBaseRecord, 'generation'> &
	Partial<
		Pick<
			KnowledgeBaseRecord,
			| 'embedder'
			| 'reindex_reason'
			| 'trained_at'
			| 'training_asked_at'
			| 'tuned_on'
			| 'changed_chunks'
			| 'tuned_weight'
			| 'training_failures'
		>
	>;

/** The writes that put a document into the index, and whether they request a tuned training. */
export interface IndexChange {
	writes: Write[];
	fields: IndexFields;
	needsTraining: boolean;
	/** Whether the knowledge base outgrows the serving basis with this document. */
	outgrowsBasis: boolean;
	/** The index that the vectors were made for. If the knowledge base serves another one by now, they are useless. */
	madeFor: { generation: string | null; basis: string | null };
}

function basisOf(generation: Generation | undefined): IndexChange['madeFor'] {
	return { generation: generation?.id ?? null, basis: generation?.basis ?? null };
}

/** The generation that receives the document. A new one replaces an empty one of another embedder. */
function targetGeneration(
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	embedder: string,
): { generation: Generation | undefined; id: string; writes: Write[]; fields: IndexFields } {
	if (serving?.embedder === embedder) {
		return { generation: serving, id: serving.id, writes: [], fields: { generation: serving.id } };
	}
	const id = newId('generation');
	const writes: Write[] = [
		{ op: 'index.open_generation', generation: id, knowledge_base_id: knowledgeBase.id, embedder },
	];
	if (serving) writes.unshift({ op: 'index.drop_generation', generation: serving.id });
	const fields = { generation: id, embedder, reindex_reason: null, ...UNTRAINED };
	return { generation: undefined, id, writes, fields };
}

/** The writes that add vectors of a provider's embedder; null if they do not match the index. */
export async function writesWithVectors(
	store: Store,
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	{ id: document_id, title, url }: DocumentRecord,
	{ language, chunks }: ParsedDocument,
	{ embedder, vectors }: PreparedVectors,
): Promise<IndexChange | null> {
	const { generation, id, writes, fields } = targetGeneration(knowledgeBase, serving, embedder);
	const done = { writes, fields, needsTraining: false, outgrowsBasis: false, madeFor: basisOf(serving) };
	const addition = { op: 'index.add_document', generation: id, document_id, title, url, language, chunks } as const;
	const basis = generation?.basis ? await store.searchIndex.openedBasis(generation.id) : undefined;
	if (vectors === null || (basis && basis.dimensions !== vectors.dimensions)) {
		// The embedder is not available, or is another model by now. Questions are not compared with the index's vectors
		// either: the search uses words alone until the index is rebuilt.
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

/**
 * Makes vectors with the serving basis, or trains an untuned basis on the whole knowledge base if that takes little time. A
 * tuned training follows when the queue of documents is empty.
 * @param changedChunks how many chunks differ from those that are indexed of the document
 */
export async function writesWithTraining(
	{ store, pool, clock, maxSyncTrainingChunks, signal }: TrainingDependencies,
	knowledgeBase: KnowledgeBaseRecord,
	serving: Generation | undefined,
	document: DocumentRecord,
	parsed: ParsedDocument,
	changedChunks: number,
): Promise<IndexChange> {
	const { chunks } = parsed;
	const database = store.searchDatabase;
	const madeFor = basisOf(serving);
	const { generation, id, writes, fields } = targetGeneration(knowledgeBase, serving, BUILTIN_EMBEDDER);
	const { id: document_id, title, url } = document;
	const addition = { document_id, title, url, language: parsed.language, chunks };
	const { tuned_on, changed_chunks } = knowledgeBase;
	// The document's earlier chunks are replaced.
	const total = (generation?.chunk_count ?? 0) - document.chunk_count + chunks.length;
	const hasGrown = generation !== undefined && hasOutgrownBasis({ ...generation, chunk_count: total });
	// A tuned basis is better than an untuned basis with all words, until the knowledge base outgrows it. A tuned training that
	// is expected knows them soon, and it would start again if another basis began to serve.
	const isLast = knowledgeBase.documents_pending === 1;
	const needsWords = isLast && tuned_on === 0 && !isTuningExpected(knowledgeBase);
	const trainNow = total <= maxSyncTrainingChunks && (hasGrown || needsWords);
	if (generation?.basis && !trainNow) {
		const { vectors, unknownShare } = await foldChunks(pool, database, generation.basis, chunks, signal);
		const folded = { ...addition, generation: generation.id, basis: generation.basis, vectors };
		return {
			writes: [{ op: 'index.add_document', ...folded }],
			fields,
			needsTraining:
				hasGrown || hasUnknownWords({ tuned_on, changed_chunks: changed_chunks + changedChunks }, unknownShare),
			outgrowsBasis: hasGrown && !hasOutgrownBasis(generation),
			madeFor,
		};
	}
	// A small knowledge base, and each first document, is trained on before it is ready, so that the basis knows all its words.
	const basis = newId('basis');
	const terms = chunks.map(({ title_terms, body_terms }) => ({ title_terms, body_terms }));
	const trained = await pool.train(
		{
			kind: 'train',
			database,
			generation: generation?.id ?? null,
			exceptDocumentId: document_id,
			chunks: terms,
			tuned: false,
		},
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
	return { writes, fields: { ...fields, trained_at, ...UNTUNED }, needsTraining: false, outgrowsBasis: false, madeFor };
}
