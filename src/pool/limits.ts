/** What jobs may take. */
export interface PoolLimits {
	/** Processor time that one document may take to be parsed (ms). A busy machine takes longer for it, and nothing follows from that. */
	parseCpuMs: number;
	/** Milliseconds after which parsing ends whatever it is that takes so long: it may wait for something that never comes. */
	parseMs: number;
	/**
	 * Milliseconds that a job may run before its thread is ended; waiting for a thread does not count. These jobs have a low
	 * priority and an end that is in sight: the limits are for what hangs, not for what is slow.
	 */
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
		parseCpuMs: 30_000,
		parseMs: 600_000,
		foldMs: 600_000,
		trainMs: 3_600_000,
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
