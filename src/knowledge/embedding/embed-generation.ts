import { newId } from '../../base/index.ts';
import type { Embedder } from '../../models/index.ts';
import type { OpenedBasis, Store } from '../../store/index.ts';
import { mustWrite } from '../must-write.ts';
import { requireDimensions } from './dimensions.ts';
import { embedTexts, PAGE } from './embed-texts.ts';

/**
 * Gives a vector of a provider's embedder to every chunk of a generation that is being built and has none, and stores them
 * in portions. What is stored is paid for once: who is cut off goes on from there. Where nothing else is being indexed, no
 * chunk is without one afterwards.
 * @returns the basis; null where there are no chunks
 * @throws AppError `model_error`; the signal's reason
 */
export async function embedGeneration(
	{ store, signal }: { store: Store; signal: AbortSignal },
	embedder: Embedder,
	generation: string,
): Promise<string | null> {
	let basis = await store.openedBasis(generation);
	for (;;) {
		signal.throwIfAborted();
		const texts = await store.textsAfter(generation, basis?.embedded_to ?? 0, PAGE);
		const last = texts.at(-1);
		if (!last) return basis?.id ?? null;
		const { vectors, dimensions } = await embedTexts(embedder, texts, signal);
		basis ??= await openBasis(store, generation, dimensions, await embedder.floor(signal));
		requireDimensions(embedder.id, dimensions, basis.dimensions);
		const chunk_ids = texts.map(({ id }) => id);
		await mustWrite(store, { op: 'index.add_vectors', basis: basis.id, chunk_ids, vectors });
		basis = { ...basis, embedded_to: last.id };
	}
}

async function openBasis(store: Store, generation: string, dimensions: number, floor: number): Promise<OpenedBasis> {
	const basis = newId('basis');
	const model = new Uint8Array(0);
	await mustWrite(store, { op: 'index.open_basis', generation, basis, dimensions, trained_on: 0, model, floor });
	return { id: basis, dimensions, embedded_to: 0 };
}
