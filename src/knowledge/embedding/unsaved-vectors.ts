import { createHash } from 'node:crypto';

/** The size of the cache in bytes: about twenty thousand vectors of the usual length. The oldest are dropped first. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Vectors that a provider has made and that a failure kept from being stored. A retry with the same texts in this process
 * does not pay for them again. It is empty while nothing fails.
 */
export class UnsavedVectors {
	readonly #vectors = new Map<string, Int8Array>();
	readonly #maxBytes: number;
	#bytes = 0;

	constructor(maxBytes = MAX_BYTES) {
		this.#maxBytes = maxBytes;
	}

	/** Keeps the vector that an embedder has made of a text. */
	keep(embedder: string, text: string, vector: Int8Array): void {
		this.take(embedder, text);
		this.#vectors.set(keyOf(embedder, text), vector);
		this.#bytes += vector.length;
		for (const [key, { length }] of this.#vectors) {
			if (this.#bytes <= this.#maxBytes) return;
			this.#vectors.delete(key);
			this.#bytes -= length;
		}
	}

	/** Removes and returns the vector, if there is one: the caller stores it or puts it back. */
	take(embedder: string, text: string): Int8Array | undefined {
		if (this.#vectors.size === 0) return undefined;
		const key = keyOf(embedder, text);
		const vector = this.#vectors.get(key);
		if (vector === undefined) return undefined;
		this.#vectors.delete(key);
		this.#bytes -= vector.length;
		return vector;
	}
}

function keyOf(embedder: string, text: string): string {
	return createHash('sha256').update(`${embedder}\n${text}`).digest('base64');
}
