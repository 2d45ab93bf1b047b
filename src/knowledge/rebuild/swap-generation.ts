import { AppError } from '../../base/index.ts';
import { BUILTIN_EMBEDDER, type Embedder } from '../../models/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	expectVersion,
	type KnowledgeBaseRecord,
	type Store,
} from '../../store/index.ts';
import { type EmbeddingDependencies, embedGeneration } from '../embedding/index.ts';
import { failDocument } from '../ingest/fail-document.ts';
import { isPending, moveCounts } from '../status.ts';
import { type BasisDependencies, type BuiltBasis, buildBasis, foldInNewChunks } from '../training/build-basis.ts';
import { failureOf, failuresAfter, trainingProblem, UNTRAINED } from '../training/training-policy.ts';
import { documentsWithCoverage, type GenerationFiller, type UnreadableDocument } from './fill-generation.ts';

export interface SwapDependencies
	extends BasisDependencies,
		Pick<EmbeddingDependencies, 'modelIdentity' | 'unsavedVectors'> {}

/** A rebuild at its end. */
export interface Swap {
	jobId: string;
	knowledgeBaseId: string;
	/** The generation that was built. */
	generation: string;
	filler: GenerationFiller;
	/** The embedder of its vectors; null for the built-in embedder. */
	embedder: Embedder | null;
	/** Its basis if it was trained before; null trains it now, if there are chunks. */
	trainedBasis: BuiltBasis | null;
	/** Why that basis is not tuned; null if it is, or if its tuning was not tried. */
	tuningError: Error | null;
}

/** Documents that one commit updates. */
const BATCH_SIZE = 500;

/**
 * Makes a new generation serve, in one commit. The caller holds the index lock of the knowledge base: no document is indexed
 * meanwhile, and a document that is removed or fails leaves both generations in its own commit. So the checks here stay valid
 * until the commit.
 * @returns false if the generation does not have all documents yet: fill it and call again
 */
export async function swapGeneration(deps: SwapDependencies, swap: Swap): Promise<boolean> {
	const { store } = deps;
	const { knowledgeBaseId, generation, filler } = swap;
	const indexedIds: string[] = [];
	const pending: DocumentRecord[] = [];
	for await (const { document, built_from } of documentsWithCoverage(store, knowledgeBaseId, generation)) {
		if (!filler.isSettled(document, built_from)) return false;
		if (built_from === null && isPending(document)) pending.push(document);
		else if (built_from !== null && document.status === 'indexed') indexedIds.push(document.id);
	}
	for (const { id } of pending) await copyPending(deps, swap, id);
	for (const [id, unreadable] of filler.unreadable) await markUnreadable(deps, swap, id, unreadable);
	const built = await completeBasis(deps, swap);
	await describeDocuments(deps, generation, indexedIds);
	await commitSwap(deps, swap, built);
	return true;
}

/** A document that is processed again stays searchable in its old version meanwhile, also in the new generation. */
async function copyPending({ store }: SwapDependencies, swap: Swap, id: string): Promise<void> {
	await decideAndCommit(store, async () => {
		const knowledgeBase = await rebuildingBase(store, swap);
		const document = await store.get('documents', id);
		// A document without chunks is in no generation.
		if (!document || !isPending(document) || document.chunk_count === 0 || !knowledgeBase.generation) return NO_COMMIT;
		const { title, url } = document;
		const commit: Commit = {
			expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
			write: [
				{
					op: 'index.copy_document',
					generation: swap.generation,
					from_generation: knowledgeBase.generation,
					from_document_id: id,
					document_id: id,
					title,
					url,
				},
			],
		};
		return { commit, result: undefined };
	});
}

async function markUnreadable(
	{ store, clock }: SwapDependencies,
	swap: Swap,
	id: string,
	{ version, reason }: UnreadableDocument,
): Promise<void> {
	await decideAndCommit(store, async () => {
		const knowledgeBase = await rebuildingBase(store, swap);
		const document = await store.get('documents', id);
		if (document?.version !== version) return NO_COMMIT;
		return { commit: failDocument(knowledgeBase, document, reason, clock.now()), result: undefined };
	});
}

/** A basis with a vector for every chunk. */
interface CompleteBasis {
	basis: string;
	/** The fields of the knowledge base that describe a trained basis. */
	fields: Partial<Pick<KnowledgeBaseRecord, 'trained_at' | 'tuned_on' | 'changed_chunks' | 'tuned_weight'>>;
}

/** Null if there is no chunk. */
async function completeBasis(
	deps: SwapDependencies,
	{ generation, embedder, trainedBasis }: Swap,
): Promise<CompleteBasis | null> {
	if (embedder) {
		for await (const _ of embedGeneration(deps, embedder, generation)) deps.signal.throwIfAborted();
		const opened = await deps.store.searchIndex.openedBasis(generation);
		return opened ? { basis: opened.id, fields: {} } : null;
	}
	if (trainedBasis) await foldInNewChunks(deps, trainedBasis);
	const stored = await deps.store.searchIndex.generation(generation);
	if (!trainedBasis && !stored?.chunk_count) return null;
	const { basis, trainedAt, trainedOn, isTuned, semanticWeight } =
		trainedBasis ?? (await buildBasis(deps, generation, { tuned: false }));
	const changed_chunks = Math.max(0, (stored?.chunk_count ?? 0) - trainedOn);
	const tuning = isTuned ? { tuned_on: trainedOn, changed_chunks, tuned_weight: semanticWeight } : {};
	return { basis, fields: { trained_at: trainedAt, ...tuning } };
}

/** Updates the records from the chunks of the new generation, because a newer parser may find more. */
async function describeDocuments(
	{ store, clock, signal }: SwapDependencies,
	generation: string,
	ids: readonly string[],
): Promise<void> {
	const indexed_at = clock.now();
	for (let at = 0; at < ids.length; at += BATCH_SIZE) {
		signal.throwIfAborted();
		const document_ids = ids.slice(at, at + BATCH_SIZE);
		const write = { op: 'index.describe_documents', generation, document_ids, indexed_at } as const;
		const { outcome } = await store.commit({ write: [write] });
		if (outcome !== 'committed') throw new AppError('unavailable', `The change was refused (${outcome}).`);
	}
}

async function commitSwap({ store, clock }: SwapDependencies, swap: Swap, built: CompleteBasis | null): Promise<void> {
	const { generation, jobId, tuningError } = swap;
	await decideAndCommit(store, async () => {
		const knowledgeBase = await rebuildingBase(store, swap);
		const now = clock.now();
		const embedder = swap.embedder?.id ?? BUILTIN_EMBEDDER;
		const fields = {
			generation,
			embedder,
			reindex_reason: null,
			rebuilding: null,
			problem: tuningError && trainingProblem(tuningError),
			last_indexed_at: now,
			...UNTRAINED,
			...built?.fields,
			// The tuning of this very index has failed, so it is delayed.
			training_failures: tuningError ? failuresAfter(knowledgeBase.training_failures, failureOf(tuningError)) : 0,
		};
		const counts = moveCounts(knowledgeBase, {}, now, fields);
		const commit: Required<Pick<Commit, 'expect' | 'write' | 'events' | 'jobs'>> = {
			expect: [expectVersion('knowledge_bases', knowledgeBase)],
			write: [counts.write],
			events: counts.events,
			jobs: [{ op: 'complete', id: jobId }, ...counts.jobs],
		};
		if (built) commit.write.push({ op: 'index.serve_basis', generation, basis: built.basis });
		const previous = knowledgeBase.generation;
		if (previous) commit.write.push({ op: 'index.drop_generation', generation: previous });
		return { commit, result: undefined };
	});
}

const NO_COMMIT = { commit: null, result: undefined };

/** @throws AppError `not_found` if the rebuild has ended */
async function rebuildingBase(
	store: Pick<Store, 'get'>,
	{ knowledgeBaseId, generation }: Swap,
): Promise<KnowledgeBaseRecord> {
	const knowledgeBase = await store.get('knowledge_bases', knowledgeBaseId);
	if (knowledgeBase?.rebuilding !== generation) throw new AppError('not_found', 'The rebuild is over.');
	return knowledgeBase;
}
