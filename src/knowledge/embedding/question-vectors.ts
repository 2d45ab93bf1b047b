import { anySignal, type Log, LruCache, messageOf, ThrottledLog } from '../../base/index.ts';
import type { Embedders } from '../../models/index.ts';
import type { Generation } from '../../store/index.ts';
import { requireDimensions } from './dimensions.ts';
import type { ModelIdentity } from './model-identity.ts';

/** The size of the cache of question vectors: 8 MB at the highest number of dimensions. */
const QUESTION_CACHE_SIZE = 512;
/** The vectors of longer questions are not cached. */
const MAX_CACHED_QUESTION_CHARS = 1_000;
/** The time limit of a search for the check that the model is still the same. */
const SAMPLE_TIMEOUT_MS = 3_000;

/** The vectors of questions, by embedder. */
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
	 * The question's vector by an embedder. Null if the embedder is built in, is not configured any more, fails, or takes too
	 * long: then the search uses words alone.
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
	 * Whether a question's vector may be compared with those of a generation. If another model made them, the search uses words
	 * alone, and the vectors of the question are removed from the cache.
	 * @param texts the question as it was embedded, alone and in its context
	 * @param timeoutSignal its abort ends the wait for the answer, and nothing else
	 * @throws the reason of `signal`
	 */
	async isComparable(
		vector: Float32Array,
		texts: readonly string[],
		serving: Generation,
		signal: AbortSignal = NEVER_ABORTS,
		timeoutSignal: AbortSignal = NEVER_ABORTS,
	): Promise<boolean> {
		const { embedder: id, basis, dimensions } = serving;
		const embedder = this.#embedders.resolve(id);
		if (embedder === null || basis === null || dimensions === null) return false;
		try {
			// The model was called with the question, unless the vector came from the cache.
			const timeLimited = anySignal(signal, timeoutSignal, AbortSignal.timeout(SAMPLE_TIMEOUT_MS));
			if (await this.#models.verifyServing(embedder, { ...serving, basis }, timeLimited)) {
				requireDimensions(id, vector.length, dimensions);
				return true;
			}
		} catch (error) {
			signal.throwIfAborted();
			this.#logKeywordOnly(id, error);
		}
		for (const text of texts) this.#cache.delete(keyOf(id, text));
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
