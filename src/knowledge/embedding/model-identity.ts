import { type Log, LruCache } from '../../base/index.ts';
import type { Embedder } from '../../models/index.ts';
import { decideAndCommit, expectVersion, type Generation, type Store } from '../../store/index.ts';

/** Bases that are remembered; one more costs a few reads. */
const VERIFIED_CACHE_SIZE = 10_000;

/** The least cosine of two vectors of the same text by the same model: eight bits, and other company in a batch, cost less. */
const MIN_SAME_MODEL_COSINE = 0.99;

/**
 * Tells whether the model that made a basis is the one that answers to its embedder's name now: the operator may have set
 * another address, or installed another model under the name. Their vectors look alike and mean nothing to each other.
 */
export class ModelIdentity {
	readonly #store: Store;
	readonly #configured: string;
	readonly #log: Log;
	/** Bases of the model that was asked. Those that are not are judged each time: it may be put right at any moment. */
	readonly #verifiedBases = new LruCache<string, true>(VERIFIED_CACHE_SIZE);

	/** @param configured the id of the server's embedder */
	constructor({ store, configured, log }: { store: Store; configured: string; log: Log }) {
		this.#store = store;
		this.#configured = configured;
		this.#log = log;
	}

	/**
	 * Whether vectors that an embedder makes may be put beside those of a basis. Where they may, it is judged once as long as
	 * the process lives; a basis that was opened without a sample is taken at its word.
	 * @throws AppError `model_error` where the embedder cannot be asked; the signal's reason
	 */
	async isSameModel(embedder: Embedder, basis: string, signal: AbortSignal): Promise<boolean> {
		if (this.#verifiedBases.get(basis)) return true;
		const isSame = await this.#compareSample(embedder, basis, signal);
		if (isSame) this.#verifiedBases.set(basis, true);
		return isSame;
	}

	/**
	 * The same of what serves a knowledge base, which is marked for a reindex where it is not so, and loses that mark where it
	 * is so again.
	 */
	async verifyServing(
		embedder: Embedder,
		serving: Generation & { basis: string },
		signal: AbortSignal,
	): Promise<boolean> {
		if (this.#verifiedBases.get(serving.basis)) return true;
		const isSame = await this.#compareSample(embedder, serving.basis, signal);
		await this.#markForReindex(serving, isSame);
		if (isSame) this.#verifiedBases.set(serving.basis, true);
		return isSame;
	}

	async #compareSample(embedder: Embedder, basis: string, signal: AbortSignal): Promise<boolean> {
		const sample = await this.#store.searchIndex.sampleOf(basis);
		if (sample === undefined || cosine(await embedder.sample(signal), sample) >= MIN_SAME_MODEL_COSINE) return true;
		embedder.forgetSample();
		this.#log.warn({ embedder: embedder.id, basis }, 'another model answers to the name of an embedder by now');
		return false;
	}

	async #markForReindex({ id, knowledge_base_id, embedder }: Generation, same: boolean): Promise<void> {
		await decideAndCommit(this.#store, async () => {
			const record = await this.#store.get('knowledge_bases', knowledge_base_id);
			const reason = record?.reindex_reason ?? null;
			const otherwise = embedder === this.#configured ? null : 'embedder';
			const reindex_reason = same ? (reason === 'model' ? otherwise : reason) : (reason ?? 'model');
			if (record?.generation !== id || reason === reindex_reason) return { commit: null, result: undefined };
			const write = { op: 'patch', kind: 'knowledge_bases', id: record.id, set: { reindex_reason } } as const;
			return { commit: { expect: [expectVersion('knowledge_bases', record)], write: [write] }, result: undefined };
		});
	}
}

/** Of vectors of any lengths; 0 where they differ in their number of values. */
function cosine(one: Float32Array, other: Int8Array): number {
	if (one.length !== other.length) return 0;
	let product = 0;
	let oneSquare = 0;
	let otherSquare = 0;
	for (let i = 0; i < one.length; i++) {
		const a = one[i] as number;
		const b = other[i] as number;
		product += a * b;
		oneSquare += a * a;
		otherSquare += b * b;
	}
	return oneSquare * otherSquare === 0 ? 0 : product / Math.sqrt(oneSquare * otherSquare);
}
