import { DotProductKernel } from './dot-product-kernel.ts';
import { InMemoryVectorIndex, strideOf, type VectorRows } from './in-memory-vector-index.ts';

/** What is in memory of all vectors together: 450,000 of 256 dimensions. */
const MAX_BYTES = 128 * 1024 * 1024;

const MAX_ENTRIES = 1000;

/** Generations of fewer chunks are not kept: the store finds their nearest vectors in about a millisecond. */
const MIN_CHUNKS = 2000;

/** What vectors are asked for. */
export interface CacheRequest {
	basis: string;
	/** How many chunks the generation has; some may be without a vector. */
	chunks: number;
	dimensions: number;
	/** Another number after each change of the generation. */
	version: number;
}

interface Entry {
	version: number;
	bytes: number;
	/** Null since the generation has changed. */
	vectors: InMemoryVectorIndex | null;
}

/** The vectors of large generations, as long as there is room; those that were not searched for longest go first. */
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
	 * The vectors of a basis, read where they are not here. Null where they are too few to be worth it, too many, or the
	 * processor cannot do it; and where they have just changed, as they do again and again while documents are indexed: they
	 * are read when two searches have found them the same. Then the store must look for the nearest.
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

	/** Forgets all. */
	clear(): void {
		this.#entries.clear();
		this.#bytes = 0;
	}

	#evict(basis: string): void {
		this.#bytes -= this.#entries.get(basis)?.bytes ?? 0;
		this.#entries.delete(basis);
	}
}
