import { type Log, LruCache } from '../../base/index.ts';
import type { Embedder } from '../../models/index.ts';
import { decideAndCommit, expectVersion, type Generation, type Store } from '../../store/index.ts';

/** The size of the cache of verified bases; a miss costs a few reads. */
const VERIFIED_CACHE_SIZE = 10_000;

/** The least cosine of two vectors of the same text by the same model. Quantisation and other texts in a batch change it by less. */
const MIN_SAME_MODEL_COSINE = 0.99;

/**
 * Checks whether the model that made a basis is the model that answers under the embedder's name now. The operator may have
 * set another address, or installed another model under the same name. Vectors of two models cannot be compared.
 */
export class ModelIdentity {
	readonly #store: Store;
	readonly #configured: string;
	readonly #log: Log;
	/** Bases that matched. Others are checked each time, because the operator may correct the setting at any moment. */
	readonly #verifiedBases = new LruCache<string, true>(VERIFIED_CACHE_SIZE);

	/** @param configured the id of the server's embedder */
	constructor({ store, configured, log }: { store: Store; configured: string; log: Log }) {
		this.#store = store;
		this.#configured = configured;
		this.#log = log;
	}

	/**
	 * Whether an embedder's vectors may be compared with those of a basis. A match is checked once per process. A basis that
	 * was opened without a sample counts as a match.
	 * @throws AppError `model_error` when the embedder does not answer; the signal's reason
	 */
	async isSameModel(embedder: Embedder, basis: string, signal: AbortSignal): Promise<boolean> {
		if (this.#verifiedBases.get(basis)) return true;
		const isSame = await this.#compareSample(embedder, basis, signal);
		if (isSame) this.#verifiedBases.set(basis, true);
		return isSame;
	}

	/**
	 * As `isSameModel`, for the serving basis of a knowledge base: it is marked for a reindex when the model differs, and the mark
	 * is removed when the model matches again.
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
		this.#log.warn({ embedder: embedder.id, basis }, 'another model answers under the name of an embedder');
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

/** The cosine of two vectors of any length; 0 if their dimensions differ. */
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
