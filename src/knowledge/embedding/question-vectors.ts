import { anySignal, type Log, LruCache, messageOf, ThrottledLog } from '../../base/index.ts';
import type { Embedders } from '../../models/index.ts';
import type { Generation } from '../../store/index.ts';
import { requireDimensions } from './dimensions.ts';
import type { ModelIdentity } from './model-identity.ts';

/** Questions whose vectors are kept: 8 MB at the most dimensions. */
const QUESTION_CACHE_SIZE = 512;
/** Longer questions are asked once. */
const MAX_CACHED_QUESTION_CHARS = 1_000;
/** A search waits no longer to hear whether the model is still the same. */
const SAMPLE_TIMEOUT_MS = 3_000;

/** The vectors of questions, by the embedder that made them. */
export class QuestionVectors {
	readonly #embedders: Embedders;
	readonly #models: ModelIdentity;
	readonly #failures: ThrottledLog;
	readonly #cache = new LruCache<string, Float32Array>(QUESTION_CACHE_SIZE);

	constructor({ embedders, models, log }: { embedders: Embedders; models: ModelIdentity; log: Log }) {
		this.#embedders = embedders;
		this.#models = models;
		this.#failures = new ThrottledLog(log);
	}

	/**
	 * The question's vector by an embedder; null where it is not to be had: no provider's embedder, one that is not configured
	 * any more, or one that fails now or takes too long. Then the words must do.
	 * @param timeoutSignal its abort ends the wait for the vector, and nothing else
	 * @throws the reason of `signal`
	 */
	async vectorOf(
		id: string,
		question: string,
		signal: AbortSignal = NEVER_ABORTS,
		timeoutSignal: AbortSignal = NEVER_ABORTS,
	): Promise<Float32Array | null> {
		const embedder = question.trim() === '' ? null : this.#embedders.resolve(id);
		if (embedder === null) return null;
		const key = keyOf(id, question);
		const cached = this.#cache.get(key);
		if (cached !== undefined) return cached;
		try {
			const vector = await embedder.embedQuestion(question, anySignal(signal, timeoutSignal));
			if (question.length <= MAX_CACHED_QUESTION_CHARS) this.#cache.set(key, vector);
			return vector;
		} catch (error) {
			signal.throwIfAborted();
			this.#logKeywordOnly(id, error);
			return null;
		}
	}

	/**
	 * Whether a question's vector may be compared with those of a generation: where another model made them, the words must do,
	 * and the vector is forgotten.
	 * @param timeoutSignal its abort ends the wait for the answer, and nothing else
	 * @throws the reason of `signal`
	 */
	async isComparable(
		vector: Float32Array,
		question: string,
		serving: Generation,
		signal: AbortSignal = NEVER_ABORTS,
		timeoutSignal: AbortSignal = NEVER_ABORTS,
	): Promise<boolean> {
		const { embedder: id, basis, dimensions } = serving;
		const embedder = this.#embedders.resolve(id);
		if (embedder === null || basis === null || dimensions === null) return false;
		try {
			// It has come with the question, unless that was kept from an earlier time.
			const timeLimited = anySignal(signal, timeoutSignal, AbortSignal.timeout(SAMPLE_TIMEOUT_MS));
			if (await this.#models.verifyServing(embedder, { ...serving, basis }, timeLimited)) {
				requireDimensions(id, vector.length, dimensions);
				return true;
			}
		} catch (error) {
			signal.throwIfAborted();
			this.#logKeywordOnly(id, error);
		}
		this.#cache.delete(keyOf(id, question));
		return false;
	}

	#logKeywordOnly(embedder: string, error: unknown): void {
		const fields = { embedder, error: messageOf(error) };
		this.#failures.warn(`${embedder} ${fields.error}`, fields, KEYWORD_ONLY_MESSAGE);
	}
}

function keyOf(embedder: string, question: string): string {
	return `${embedder}\n${question}`;
}

const KEYWORD_ONLY_MESSAGE = 'a search goes by words alone: no vector for its question';
const NEVER_ABORTS = new AbortController().signal;
