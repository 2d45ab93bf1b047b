import { type Log, LruCache, messageOf, ThrottledLog } from '../../base/index.ts';
import type { Embedders } from '../../models/index.ts';
import type { Generation } from '../../store/index.ts';
import { requireDimensions } from './dimensions.ts';
import type { KnownModels } from './known-models.ts';

/** Questions whose vectors are kept: 8 MB at the most dimensions. */
const KEPT = 512;
/** Longer questions are asked once. */
const KEPT_CHARS = 1_000;
/** A search waits no longer to hear whether the model is still the same. */
const SAMPLE_MS = 3_000;

/** The vectors of questions, by the embedder that made them. */
export class QuestionVectors {
	readonly #embedders: Embedders;
	readonly #models: KnownModels;
	readonly #failures: ThrottledLog;
	readonly #kept = new LruCache<string, Float32Array>(KEPT);

	constructor({ embedders, models, log }: { embedders: Embedders; models: KnownModels; log: Log }) {
		this.#embedders = embedders;
		this.#models = models;
		this.#failures = new ThrottledLog(log);
	}

	/**
	 * The question's vector by an embedder; null where it is not to be had: no provider's embedder, one that is not configured
	 * any more, or one that fails now or takes too long. Then the words must do.
	 * @param late its abort ends the wait for the vector, and nothing else
	 * @throws the reason of `signal`
	 */
	async of(
		id: string,
		question: string,
		signal: AbortSignal = NEVER,
		late: AbortSignal = NEVER,
	): Promise<Float32Array | null> {
		const embedder = question.trim() === '' ? null : this.#embedders.resolve(id);
		if (embedder === null) return null;
		const key = keyOf(id, question);
		const kept = this.#kept.get(key);
		if (kept !== undefined) return kept;
		try {
			const vector = await embedder.embedQuestion(question, AbortSignal.any([signal, late]));
			if (question.length <= KEPT_CHARS) this.#kept.set(key, vector);
			return vector;
		} catch (error) {
			signal.throwIfAborted();
			this.#goByWords(id, error);
			return null;
		}
	}

	/**
	 * Whether a question's vector may be compared with those of a generation: where another model made them, the words must do,
	 * and the vector is forgotten.
	 * @param late its abort ends the wait for the answer, and nothing else
	 * @throws the reason of `signal`
	 */
	async fits(
		vector: Float32Array,
		question: string,
		serving: Generation,
		signal: AbortSignal = NEVER,
		late: AbortSignal = NEVER,
	): Promise<boolean> {
		const { embedder: id, basis, dimensions } = serving;
		const embedder = this.#embedders.resolve(id);
		if (embedder === null || basis === null || dimensions === null) return false;
		try {
			// It has come with the question, unless that was kept from an earlier time.
			const soon = AbortSignal.any([signal, late, AbortSignal.timeout(SAMPLE_MS)]);
			if (await this.#models.serves(embedder, { ...serving, basis }, soon)) {
				requireDimensions(id, vector.length, dimensions);
				return true;
			}
		} catch (error) {
			signal.throwIfAborted();
			this.#goByWords(id, error);
		}
		this.#kept.delete(keyOf(id, question));
		return false;
	}

	#goByWords(embedder: string, error: unknown): void {
		const facts = { embedder, error: messageOf(error) };
		this.#failures.warn(`${embedder} ${facts.error}`, facts, WORDS_ALONE);
	}
}

function keyOf(embedder: string, question: string): string {
	return `${embedder}\n${question}`;
}

const WORDS_ALONE = 'a search goes by words alone: no vector for its question';
const NEVER = new AbortController().signal;
