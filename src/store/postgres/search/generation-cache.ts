import type { Sql } from '../sql.ts';
import type { GenerationRow } from './generation-row.ts';
import { KEPT_CHANGES } from './generations.ts';
import { LoadedGeneration } from './loaded-generation.ts';

/** Generations in memory: an LRU cache bounded in bytes. The generation in use always stays. */
export class GenerationCache {
	readonly #maxBytes: number;
	/** By id, the most recently used last. */
	readonly #loaded = new Map<string, LoadedGeneration>();

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** The ids of the generations in memory, the most recently used last. */
	get ids(): string[] {
		return [...this.#loaded.keys()];
	}

	/**
	 * A generation as it is in a snapshot. It is loaded, or what has changed since the last call.
	 * @param sql the snapshot, which `row` is from
	 */
	async get(sql: Sql, row: GenerationRow): Promise<LoadedGeneration> {
		let generation = this.#loaded.get(row.id);
		this.#loaded.delete(row.id);
		// Later removals may be forgotten. A snapshot never lies before another, except after the database was restored.
		const isBehind = generation !== undefined && row.changes - generation.change > KEPT_CHANGES;
		const isAhead = generation !== undefined && row.changes < generation.change;
		if (generation === undefined || isBehind || isAhead) generation = new LoadedGeneration(row.id);
		this.#loaded.set(row.id, generation);
		try {
			await generation.follow(sql, row, () => this.#evict());
		} catch (error) {
			this.#loaded.delete(row.id);
			throw error;
		}
		this.#evict();
		return generation;
	}

	delete(id: string): void {
		this.#loaded.delete(id);
	}

	#evict(): void {
		let bytes = 0;
		for (const generation of this.#loaded.values()) bytes += generation.bytes;
		for (const [id, generation] of this.#loaded) {
			if (bytes <= this.#maxBytes || this.#loaded.size === 1) return;
			this.#loaded.delete(id);
			bytes -= generation.bytes;
		}
	}
}
