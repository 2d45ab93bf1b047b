import type { TrainJob, TrainResult } from '../../src/contract/index.ts';
import type { Store, Write } from '../../src/store/index.ts';

/** Vectors in one commit. */
const BATCH_SIZE = 1000;

/** Trains an embedding on a generation, stores a vector for each chunk, and makes the generation the serving one. */
export async function serveTrained(
	store: Store & { databaseFile: string },
	train: (job: TrainJob) => Promise<TrainResult>,
	generation: string,
	basis: string,
): Promise<void> {
	const trained = await train({ kind: 'train', database: store.databaseFile, generation, chunks: [] });
	const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
	await commitAll(store, { op: 'index.open_basis', generation, basis, dimensions, trained_on, model });
	for (let at = 0; at < stored_ids.length; at += BATCH_SIZE) {
		const chunk_ids = stored_ids.slice(at, at + BATCH_SIZE);
		const vectors = stored_vectors.slice(at * dimensions, (at + chunk_ids.length) * dimensions);
		await commitAll(store, { op: 'index.add_vectors', basis, chunk_ids, vectors });
	}
	await commitAll(store, { op: 'index.serve_basis', generation, basis });
}

/** @throws Error if the store refuses the commit */
export async function commitAll(store: Store, ...write: Write[]): Promise<void> {
	const { outcome } = await store.commit({ write });
	if (outcome !== 'committed') throw new Error(`It was not written: ${outcome}.`);
}
