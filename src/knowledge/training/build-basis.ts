import { type Clock, newId, type Semaphore } from '../../base/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import type { Store } from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';

/** Vectors written in one commit: other writers wait for no more than that. */
const BATCH_SIZE = 1000;

/** What building a basis needs. */
export interface BasisDependencies {
	store: Store & { databaseFile: string };
	pool: WorkerPool;
	clock: Clock;
	signal: AbortSignal;
}

/** What building a basis of a large generation needs, which takes many seconds. */
export interface LargeBasisDependencies extends BasisDependencies {
	/** Lets one in at a time: the threads that embed new documents must not all be at it. */
	largeTrainings: Semaphore;
}

/** A trained basis of a generation, stored beside the one that serves. */
export interface BuiltBasis {
	generation: string;
	basis: string;
	trainedAt: number;
	/** The last chunk that has a vector: ids grow, so every later one is without. */
	lastChunk: number;
}

/** Trains a basis on what a generation holds, and stores it with its vectors in portions. It does not serve yet. */
export async function buildBasis(
	{ store, pool, clock, signal }: BasisDependencies,
	generation: string,
): Promise<BuiltBasis> {
	const trained = await pool.train({ kind: 'train', database: store.databaseFile, generation, chunks: [] }, signal);
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
	return { generation, basis, trainedAt, lastChunk: stored_ids.at(-1) ?? 0 };
}

/** Builds a basis of a large generation while documents are indexed, and folds those in. */
export function buildLargeBasis(deps: LargeBasisDependencies, generation: string): Promise<BuiltBasis> {
	return deps.largeTrainings.run(async () => foldInNewChunks(deps, await buildBasis(deps, generation)), deps.signal);
}

/** Gives vectors to the chunks that were stored since. Where nothing else is being indexed, none is without one afterwards. */
export async function foldInNewChunks(
	{ store, pool, signal }: BasisDependencies,
	built: BuiltBasis,
): Promise<BuiltBasis> {
	const { generation, basis, trainedAt } = built;
	let { lastChunk } = built;
	for (;;) {
		const chunks = await store.searchIndex.termsAfter(generation, lastChunk, BATCH_SIZE);
		const last = chunks.at(-1);
		if (!last) return { generation, basis, trainedAt, lastChunk };
		const { vectors } = await pool.fold({ kind: 'fold', database: store.databaseFile, basis, chunks }, signal);
		await commitWrite(store, { op: 'index.add_vectors', basis, chunk_ids: chunks.map(({ id }) => id), vectors });
		lastChunk = last.id;
	}
}
