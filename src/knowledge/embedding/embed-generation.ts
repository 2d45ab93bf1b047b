import { newId, shortageOf } from '../../base/index.ts';
import { type Embedder, isProviderFailure } from '../../models/index.ts';
import type { OpenedBasis, Store } from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';
import { requireDimensions } from './dimensions.ts';
import { embedPage, int8Of, keepUnsaved, PAGE_SIZE, rowsOf } from './embed-texts.ts';
import type { ModelIdentity } from './model-identity.ts';
import type { UnsavedVectors } from './unsaved-vectors.ts';

/** The dependencies of embedding, except the embedder. */
export interface EmbeddingDependencies {
	store: Store;
	unsavedVectors: UnsavedVectors;
	modelIdentity: ModelIdentity;
	signal: AbortSignal;
}

/**
 * Embeds every chunk of a generation under construction that has no vector yet, with a provider's embedder, and stores the
 * vectors in batches. It yields after each batch. A later call continues after the stored vectors, so that no chunk is paid
 * for twice, unless another model answers under the same name by then. If nothing else is indexed meanwhile, every chunk
 * has a vector afterwards, and `Store.openedBasis` returns the basis.
 * @throws AppError `model_error`; the signal's reason
 */
export async function* embedGeneration(
	{ store, unsavedVectors, modelIdentity, signal }: EmbeddingDependencies,
	embedder: Embedder,
	generation: string,
): AsyncGenerator<void, void, undefined> {
	const embeddingContext = { embedder, unsavedVectors, signal };
	let basis = await store.searchIndex.openedBasis(generation);
	if (basis && !(await modelIdentity.isSameModel(embedder, basis.id, signal))) basis = undefined;
	for (;;) {
		signal.throwIfAborted();
		const texts = await store.searchIndex.textsAfter(generation, basis?.embedded_to ?? 0, PAGE_SIZE);
		if (texts.length === 0) return;
		const vectors: Array<Int8Array | undefined> = texts.map(() => undefined);
		let stored = 0;
		try {
			for await (const batch of embedPage(embeddingContext, texts)) {
				for (const { index, vector } of batch) vectors[index] = vector;
				// In order, because the basis records only how far it has come.
				const ready = vectors.slice(stored, firstMissing(vectors, stored)) as Int8Array[];
				if (ready.length === 0) continue;
				basis ??= await openBasis({ store, signal }, embedder, generation, ready[0]?.length as number);
				for (const { length } of ready) requireDimensions(embedder.id, length, basis.dimensions);
				const chunk_ids = texts.slice(stored, stored + ready.length).map(({ id }) => id);
				const rows = rowsOf(ready, basis.dimensions);
				await commitWrite(store, { op: 'index.add_vectors', basis: basis.id, chunk_ids, vectors: rows });
				stored += ready.length;
				basis = { ...basis, embedded_to: chunk_ids.at(-1) as number };
				yield;
			}
		} catch (error) {
			const isRepeated = isProviderFailure(error) || shortageOf(error) !== null;
			if (isRepeated) keepUnsaved(embeddingContext, texts.slice(stored), vectors.slice(stored));
			throw error;
		}
	}
}

/** The first empty index, starting at the given one. */
function firstMissing(vectors: ReadonlyArray<Int8Array | undefined>, from: number): number {
	const gap = vectors.indexOf(undefined, from);
	return gap === -1 ? vectors.length : gap;
}

async function openBasis(
	{ store, signal }: Pick<EmbeddingDependencies, 'store' | 'signal'>,
	embedder: Embedder,
	generation: string,
	dimensions: number,
): Promise<OpenedBasis> {
	const basis = newId('basis');
	const floor = await embedder.floor(signal);
	const sample = int8Of(await embedder.sample(signal));
	const model = new Uint8Array(0);
	await commitWrite(store, {
		op: 'index.open_basis',
		generation,
		basis,
		dimensions,
		trained_on: 0,
		model,
		floor,
		sample,
	});
	return { id: basis, dimensions, embedded_to: 0 };
}
