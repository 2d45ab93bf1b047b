import { type Log, Lru, messageOf } from '../../base/index.ts';
import type { Embedders } from '../../models/index.ts';
import type { Generation } from '../../store/index.ts';
import { requireDimensions } from './dimensions.ts';

/** Questions whose vectors are kept: 8 MB at the most dimensions. */
const KEPT = 512;
/** Longer questions are asked once. */
const KEPT_CHARS = 1_000;

/** The vectors of questions, by the embedder that made them. */
export class QuestionVectors {
	readonly #embedders: Embedders;
	readonly #log: Log;
	readonly #kept = new Lru<string, Float32Array>(KEPT);

	constructor({ embedders, log }: { embedders: Embedders; log: Log }) {
		this.#embedders = embedders;
		this.#log = log;
	}

	/**
	 * The question's vector, to be compared with those of a generation; null where it is not to be had: no provider's
	 * embedder, one that is not configured any more, or one that fails now. Then the words must do.
	 * @throws the signal's reason
	 */
	async of(
		{ embedder: id, dimensions }: Pick<Generation, 'embedder' | 'dimensions'>,
		question: string,
		signal: AbortSignal = NEVER,
	): Promise<Float32Array | null> {
		const embedder = question.trim() === '' ? null : this.#embedders.resolve(id);
		if (embedder === null || dimensions === null) return null;
		const key = `${id}\n${dimensions}\n${question}`;
		const kept = this.#kept.get(key);
		if (kept !== undefined) return kept;
		try {
			const vector = await embedder.embedQuestion(question, signal);
			requireDimensions(id, vector.length, dimensions);
			if (question.length <= KEPT_CHARS) this.#kept.set(key, vector);
			return vector;
		} catch (error) {
			signal.throwIfAborted();
			this.#log.warn(
				{ embedder: id, error: messageOf(error) },
				'a search goes by words alone: no vector for its question',
			);
			return null;
		}
	}
}

const NEVER = new AbortController().signal;
