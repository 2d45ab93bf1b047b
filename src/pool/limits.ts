/** What jobs may take. */
export interface WorkerPoolLimits {
	/** Processor time that one document may take to be parsed (ms). A busy machine takes longer for it, and nothing follows from that. */
	parseCpuMs: number;
	/** Milliseconds after which parsing ends whatever it is that takes so long: it may wait for something that never comes. */
	parseTimeoutMs: number;
	/**
	 * Milliseconds that a job may run before its thread is ended; waiting for a thread does not count. These jobs have a low
	 * priority and an end that is in sight: the limits are for what hangs, not for what is slow.
	 */
	foldTimeoutMs: number;
	trainTimeoutMs: number;
	/** Checks end themselves long before. */
	checkTimeoutMs: number;
	/** Here waiting counts, because somebody waits for the answer. */
	searchTimeoutMs: number;
	/** Jobs of one kind that may wait for a thread; those over it are refused at once. */
	maxQueued: number;
	/** The heap of one thread (MB). */
	heapMb: number;
	/** The resident memory of the process that parses (MB): its heaps, and what parsers take beside them. */
	parseRssMb: number;
	/** Milliseconds without work after which the process that parses ends. */
	parseIdleTimeoutMs: number;
}

/** The limits of a pool with so many threads for parsing. */
export function workerPoolLimits(threads: number, overrides: Partial<WorkerPoolLimits> = {}): WorkerPoolLimits {
	return {
		parseCpuMs: 30_000,
		parseTimeoutMs: 600_000,
		foldTimeoutMs: 600_000,
		trainTimeoutMs: 3_600_000,
		checkTimeoutMs: 20_000,
		searchTimeoutMs: 10_000,
		maxQueued: 1000,
		heapMb: 512,
		// One document alone may fill its heap and has as much again for the process itself, file buffers and the like.
		parseRssMb: 768 + 256 * (threads - 1),
		parseIdleTimeoutMs: 30_000,
		...overrides,
	};
}
