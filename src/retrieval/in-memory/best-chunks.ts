/** A chunk's row id and its score. */
export interface ScoredChunk {
	id: number;
	score: number;
}

/** The best of many chunks, best first; chunks with equal scores in the order in which they were stored. */
export class BestChunks {
	readonly chunks: ScoredChunk[] = [];
	readonly #limit: number;
	#worstScore = Number.NEGATIVE_INFINITY;

	constructor(limit: number) {
		this.#limit = limit;
	}

	add(id: number, score: number): void {
		const { chunks } = this;
		if (chunks.length === this.#limit && score < this.#worstScore) return;
		let from = 0;
		let to = chunks.length;
		while (from < to) {
			const middle = (from + to) >> 1;
			const other = chunks[middle] as ScoredChunk;
			if (other.score > score || (other.score === score && other.id < id)) from = middle + 1;
			else to = middle;
		}
		if (from >= this.#limit) return;
		chunks.splice(from, 0, { id, score });
		if (chunks.length > this.#limit) chunks.pop();
		this.#worstScore = chunks.at(-1)?.score ?? this.#worstScore;
	}
}
