import { DotProductKernel } from './dot-product-kernel.ts';
import { InMemoryVectorIndex, strideOf, type VectorRows } from './in-memory-vector-index.ts';

/** The size of the cache: 450,000 vectors of 256 dimensions. */
const MAX_BYTES = 128 * 1024 * 1024;

const MAX_ENTRIES = 1000;

/** Generations with fewer chunks are not cached: the store finds their nearest vectors in about a millisecond. */
const MIN_CHUNKS = 2000;

/** The vectors that a search needs. */
export interface CacheRequest {
	basis: string;
	/** The generation's number of chunks; some may have no vector. */
	chunks: number;
	dimensions: number;
	/** A number that changes with each change of the generation. */
	version: number;
}

interface Entry {
	version: number;
	bytes: number;
	/** Null after a change of the generation. */
	vectors: InMemoryVectorIndex | null;
}

/** An LRU cache of the vectors of large generations. */
export class VectorIndexCache {
	readonly #kernel = DotProductKernel.create();
	readonly #maxBytes: number;
	readonly #minChunks: number;
	/** By basis, the most recently used last. */
	readonly #entries = new Map<string, Entry>();
	#bytes = 0;

	constructor({ maxBytes = MAX_BYTES, minChunks = MIN_CHUNKS } = {}) {
		this.#maxBytes = maxBytes;
		this.#minChunks = minChunks;
	}

	/**
	 * The vectors of a basis, read if they are not cached. Null if they are too few or too many, or if the processor lacks SIMD
	 * instructions; also if they have just changed, as they do repeatedly while documents are indexed: they are read when two
	 * searches in a row find the same version. On null the store searches for the nearest.
	 */
	get(request: CacheRequest, read: () => VectorRows): InMemoryVectorIndex | null {
		const { basis, chunks, dimensions, version } = request;
		if (this.#kernel === null || !this.#kernel.supports(strideOf(dimensions))) return null;
		if (chunks < this.#minChunks) return null;
		const entry = this.#entries.get(basis);
		if (entry?.version === version && entry.vectors !== null) {
			this.#entries.delete(basis);
			this.#entries.set(basis, entry);
			return entry.vectors;
		}
		this.#evict(basis);
		if (entry !== undefined && entry.version !== version) {
			this.#entries.set(basis, { version, bytes: 0, vectors: null });
			if (this.#entries.size > MAX_ENTRIES) this.#evict(this.#entries.keys().next().value as string);
			return null;
		}
		const bytes = InMemoryVectorIndex.bytesOf(chunks, dimensions);
		if (bytes > this.#maxBytes) return null;
		for (const oldest of this.#entries.keys()) {
			if (this.#bytes + bytes <= this.#maxBytes) break;
			this.#evict(oldest);
		}
		const vectors = new InMemoryVectorIndex(this.#kernel, read());
		this.#entries.set(basis, { version, bytes, vectors });
		this.#bytes += bytes;
		return vectors;
	}

	/** Removes all entries. */
	clear(): void {
		this.#entries.clear();
		this.#bytes = 0;
	}

	#evict(basis: string): void {
		this.#bytes -= this.#entries.get(basis)?.bytes ?? 0;
		this.#entries.delete(basis);
	}
}
