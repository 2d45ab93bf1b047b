import { DotProducts } from './dot-products.ts';
import { KeptVectors, stepOf, type VectorRows } from './kept-vectors.ts';

/** What is in memory of all vectors together: 450,000 of 256 dimensions. */
const MOST_BYTES = 128 * 1024 * 1024;

const MOST_ENTRIES = 1000;

/** Generations of fewer chunks are not kept: the store finds their nearest vectors in about a millisecond. */
const LEAST_CHUNKS = 2000;

/** What vectors are asked for. */
export interface WantedVectors {
	basis: string;
	/** How many chunks the generation has; some may be without a vector. */
	chunks: number;
	dimensions: number;
	/** Another number after each change of the generation. */
	changes: number;
}

interface Entry {
	changes: number;
	bytes: number;
	/** Null since the generation has changed. */
	vectors: KeptVectors | null;
}

/** The vectors of large generations, as long as there is room; those that were not searched for longest go first. */
export class VectorMemory {
	readonly #products = DotProducts.create();
	readonly #mostBytes: number;
	readonly #leastChunks: number;
	/** By basis, the most recently used last. */
	readonly #entries = new Map<string, Entry>();
	#bytes = 0;

	constructor({ mostBytes = MOST_BYTES, leastChunks = LEAST_CHUNKS } = {}) {
		this.#mostBytes = mostBytes;
		this.#leastChunks = leastChunks;
	}

	/**
	 * The vectors of a basis, read where they are not here. Null where they are too few to be worth it, too many, or the
	 * processor cannot do it; and where they have just changed, as they do again and again while documents are indexed: they
	 * are read when two searches have found them the same. Then the store must look for the nearest.
	 */
	of(wanted: WantedVectors, read: () => VectorRows): KeptVectors | null {
		const { basis, chunks, dimensions, changes } = wanted;
		if (this.#products === null || !this.#products.fits(stepOf(dimensions))) return null;
		if (chunks < this.#leastChunks) return null;
		const entry = this.#entries.get(basis);
		if (entry?.changes === changes && entry.vectors !== null) {
			this.#entries.delete(basis);
			this.#entries.set(basis, entry);
			return entry.vectors;
		}
		this.#forget(basis);
		if (entry !== undefined && entry.changes !== changes) {
			this.#entries.set(basis, { changes, bytes: 0, vectors: null });
			if (this.#entries.size > MOST_ENTRIES) this.#forget(this.#entries.keys().next().value as string);
			return null;
		}
		const bytes = KeptVectors.bytesOf(chunks, dimensions);
		if (bytes > this.#mostBytes) return null;
		for (const oldest of this.#entries.keys()) {
			if (this.#bytes + bytes <= this.#mostBytes) break;
			this.#forget(oldest);
		}
		const vectors = new KeptVectors(this.#products, read());
		this.#entries.set(basis, { changes, bytes, vectors });
		this.#bytes += bytes;
		return vectors;
	}

	/** Forgets all. */
	clear(): void {
		this.#entries.clear();
		this.#bytes = 0;
	}

	#forget(basis: string): void {
		this.#bytes -= this.#entries.get(basis)?.bytes ?? 0;
		this.#entries.delete(basis);
	}
}
