import { newId } from '../../base/index.ts';
import type { Commit } from '../../store/index.ts';
import { type IndexDependencies, worthTraining } from './index-document.ts';

/** Vectors written in one commit: other writers wait for no more than that. */
const SLICE = 1000;

/**
 * Trains a new basis on a knowledge base as it is now, builds its vectors beside the old ones and lets it serve. Must run
 * alone for its knowledge base. Training jobs that waited meanwhile are settled with this one.
 */
export async function trainBasis({ store, pool, signal }: IndexDependencies, knowledgeBaseId: string): Promise<void> {
	const mustCommit = async (commit: Commit): Promise<void> => {
		const { outcome } = await store.commit(commit);
		if (outcome !== 'committed') throw new Error(`A new basis was refused (${outcome}).`);
	};
	const settle = { op: 'settle_all', ref: knowledgeBaseId } as const;
	const knowledgeBase = await store.get('knowledge_bases', knowledgeBaseId);
	const generation = knowledgeBase?.generation ? await store.generation(knowledgeBase.generation) : undefined;
	const settled = !generation?.chunk_count || !worthTraining(generation.chunk_count, generation.trained_on);
	if (!generation || settled) {
		await mustCommit({ jobs: [settle] });
		return;
	}
	const trained = await pool.train(
		{ kind: 'train', database: store.databaseFile, generation: generation.id, chunks: [] },
		signal,
	);
	const basis = newId('basis');
	const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
	await mustCommit({
		write: [{ op: 'index.open_basis', generation: generation.id, basis, dimensions, trained_on, model }],
	});
	for (let at = 0; at < stored_ids.length; at += SLICE) {
		const chunk_ids = stored_ids.slice(at, at + SLICE);
		const vectors = stored_vectors.slice(at * dimensions, (at + chunk_ids.length) * dimensions);
		await mustCommit({ write: [{ op: 'index.add_vectors', basis, chunk_ids, vectors }] });
	}
	await mustCommit({ write: [{ op: 'index.serve_basis', generation: generation.id, basis }], jobs: [settle] });
}
