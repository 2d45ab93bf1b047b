import { type Clock, newId, type Semaphore } from '../../base/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import type { Store } from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';

/** Vectors of one commit. It bounds the time that other commits wait. */
const BATCH_SIZE = 1000;

/** The dependencies of a training. */
export interface BasisDependencies {
	store: Store & { searchDatabase: string };
	pool: WorkerPool;
	clock: Clock;
	signal: AbortSignal;
}

/** The dependencies of a tuned training, which takes many seconds. */
export interface TunedBasisDependencies extends BasisDependencies {
	/** Admits one tuned training at a time. */
	tunedTrainings: Semaphore;
}

/** A trained basis of a generation, stored beside the serving basis. */
export interface BuiltBasis {
	generation: string;
	basis: string;
	trainedAt: number;
	/** How many chunks it was trained on. */
	trainedOn: number;
	/** Whether its directions were tuned. */
	isTuned: boolean;
	/** The weight of the semantic half that a tuned training chose; null if it had too little text to choose. */
	semanticWeight: number | null;
	/** The last chunk with a vector. Ids grow, so no later chunk has one. */
	lastChunk: number;
}

/**
 * Trains a basis on a generation and stores it with its vectors in portions. It does not serve yet. A basis that an earlier
 * attempt has left is dropped.
 */
export async function buildBasis(
	{ store, pool, clock, signal }: BasisDependencies,
	generation: string,
	{ tuned }: { tuned: boolean },
): Promise<BuiltBasis> {
	const database = store.searchDatabase;
	await commitWrite(store, { op: 'index.drop_unserved_bases', generation });
	const trained = await pool.train({ kind: 'train', database, generation, chunks: [], tuned }, signal);
	const trainedAt = clock.now();
	const basis = newId('basis');
	const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
	await commitWrite(store, { op: 'index.open_basis', generation, basis, dimensions, trained_on, model });
	for (let at = 0; at < stored_ids.length; at += BATCH_SIZE) {
		signal.throwIfAborted();
		const chunk_ids = stored_ids.slice(at, at + BATCH_SIZE);
		const vectors = stored_vectors.slice(at * dimensions, (at + chunk_ids.length) * dimensions);
		await commitWrite(store, { op: 'index.add_vectors', basis, chunk_ids, vectors });
	}
	return {
		generation,
		basis,
		trainedAt,
		trainedOn: trained_on,
		isTuned: tuned,
		semanticWeight: trained.semantic_weight,
		lastChunk: stored_ids.at(-1) ?? 0,
	};
}

/** Builds a tuned basis while documents are indexed, and folds those in. */
export function buildTunedBasis(deps: TunedBasisDependencies, generation: string): Promise<BuiltBasis> {
	return deps.tunedTrainings.run(
		async () => foldInNewChunks(deps, await buildBasis(deps, generation, { tuned: true })),
		deps.signal,
	);
}

/** Embeds the chunks that were stored since. If nothing else is indexed meanwhile, every chunk has a vector afterwards. */
export async function foldInNewChunks(
	{ store, pool, signal }: BasisDependencies,
	built: BuiltBasis,
): Promise<BuiltBasis> {
	const { generation, basis } = built;
	let { lastChunk } = built;
	for (;;) {
		const chunks = await store.searchIndex.termsAfter(generation, lastChunk, BATCH_SIZE);
		const last = chunks.at(-1);
		if (!last) return { ...built, lastChunk };
		const { vectors } = await pool.fold({ kind: 'fold', database: store.searchDatabase, basis, chunks }, signal);
		await commitWrite(store, { op: 'index.add_vectors', basis, chunk_ids: chunks.map(({ id }) => id), vectors });
		lastChunk = last.id;
	}
}
