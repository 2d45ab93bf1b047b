import type { TrainJob, TrainResult } from '../../src/contract/index.ts';
import type { Store, Write } from '../../src/store/index.ts';

/** Vectors in one commit. */
const BATCH_SIZE = 1000;

/**
 * Trains a tuned embedding on a generation, stores a vector for each chunk, and makes the basis serve.
 * @returns the weight of the semantic half that the training chose; null if there was too little text
 */
export async function serveTrained(
	store: Store & { searchDatabase: string },
	train: (job: TrainJob) => Promise<TrainResult>,
	generation: string,
	basis: string,
): Promise<number | null> {
	const database = store.searchDatabase;
	const trained = await train({ kind: 'train', database, generation, chunks: [], tuned: true });
	const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
	await commitAll(store, { op: 'index.open_basis', generation, basis, dimensions, trained_on, model });
	for (let at = 0; at < stored_ids.length; at += BATCH_SIZE) {
		const chunk_ids = stored_ids.slice(at, at + BATCH_SIZE);
		const vectors = stored_vectors.slice(at * dimensions, (at + chunk_ids.length) * dimensions);
		await commitAll(store, { op: 'index.add_vectors', basis, chunk_ids, vectors });
	}
	await commitAll(store, { op: 'index.serve_basis', generation, basis });
	return trained.semantic_weight;
}

/** @throws Error if the store refuses the commit */
export async function commitAll(store: Store, ...write: Write[]): Promise<void> {
	const { outcome } = await store.commit({ write });
	if (outcome !== 'committed') throw new Error(`It was not written: ${outcome}.`);
}
