import { newId } from '../../base/index.ts';
import { type Embedder, isProviderFailure } from '../../models/index.ts';
import type { OpenedBasis, Store } from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';
import { requireDimensions } from './dimensions.ts';
import { embedPage, int8Of, keepUnsaved, PAGE_SIZE, rowsOf } from './embed-texts.ts';
import type { ModelIdentity } from './model-identity.ts';
import type { UnsavedVectors } from './unsaved-vectors.ts';

/** What embedding needs beside the embedder. */
export interface EmbeddingDependencies {
	store: Store;
	unsavedVectors: UnsavedVectors;
	modelIdentity: ModelIdentity;
	signal: AbortSignal;
}

/**
 * Gives a vector of a provider's embedder to every chunk of a generation that is being built and has none, and stores them
 * batch by batch, giving a sign of life after each. What is stored is paid for once: who is cut off goes on from there, unless
 * another model answers to the name by then. Where nothing else is being indexed, no chunk is without one afterwards, and
 * `Store.openedBasis` tells the basis.
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
				// In order: the basis remembers no more than up to where it has come.
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
			if (isProviderFailure(error)) keepUnsaved(embeddingContext, texts.slice(stored), vectors.slice(stored));
			throw error;
		}
	}
}

/** The first place, not before this one, that is empty. */
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
