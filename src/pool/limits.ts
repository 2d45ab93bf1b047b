/** What jobs may take. */
export interface PoolLimits {
	/** Milliseconds that a job may run before its thread is ended; waiting for a thread does not count. */
	parseMs: number;
	foldMs: number;
	trainMs: number;
	/** Checks end themselves long before. */
	checkMs: number;
	/** Here waiting counts, because somebody waits for the answer. */
	searchMs: number;
	/** Jobs of one kind that may wait for a thread; those over it are refused at once. */
	queue: number;
	/** The heap of one thread (MB). */
	heapMb: number;
	/** The resident memory of the process that parses (MB): its heaps, and what parsers take beside them. */
	parseRssMb: number;
	/** Milliseconds without work after which the process that parses ends. */
	parseIdleMs: number;
}

/** The limits of a pool with so many threads for parsing. */
export function limitsFor(threads: number, overrides: Partial<PoolLimits> = {}): PoolLimits {
	return {
		parseMs: 30_000,
		foldMs: 60_000,
		trainMs: 600_000,
		checkMs: 20_000,
		searchMs: 10_000,
		queue: 1000,
		heapMb: 512,
		// One document alone may fill its heap and has as much again for the process itself, file buffers and the like.
		parseRssMb: 768 + 256 * (threads - 1),
		parseIdleMs: 30_000,
		...overrides,
	};
}
