/** Limits of jobs. */
export interface WorkerPoolLimits {
	/** Processor time of the parse of one document (ms). It does not depend on the load of the machine. */
	parseCpuMs: number;
	/** Wall-clock time of the parse of one document (ms), for a parse that waits without using the processor. */
	parseTimeoutMs: number;
	/**
	 * Milliseconds after which the thread of a running job is terminated; waiting for a thread does not count. These jobs run at
	 * low priority and end by themselves: the limits are for jobs that hang, not for slow ones.
	 */
	foldTimeoutMs: number;
	trainTimeoutMs: number;
	/** Checks end by themselves long before. */
	checkTimeoutMs: number;
	/** Waiting for a thread counts, because a client waits for the result. */
	searchTimeoutMs: number;
	/**
	 * Milliseconds from the call after which the thread of a running search is terminated. Longer than `searchTimeoutMs` where a search may
	 * have to load its index first: the next one finds it loaded.
	 */
	searchStopMs: number;
	/** Jobs of one kind that may wait for a thread; further ones are rejected at once. */
	maxQueued: number;
	/** The heap of one thread (MB). */
	heapMb: number;
	/** The resident memory of the parsing process (MB): its heaps, and memory outside the heaps. */
	parseRssMb: number;
	/** Milliseconds without work after which the parsing process ends. */
	parseIdleTimeoutMs: number;
}

/** The limits of a pool with this number of parsing threads. */
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
		// One document may fill its heap, and as much again is for the process itself and for file buffers.
		parseRssMb: 768 + 256 * (threads - 1),
		parseIdleTimeoutMs: 30_000,
		searchStopMs: overrides.searchTimeoutMs ?? 10_000,
		...overrides,
	};
}

/**
 * The limits of documents whose scanned pages are read: each page takes seconds, and the library's memory is outside of the heap.
 * Recognition ends earlier by itself (`TextRecogniser.isExhausted`), so that a long document keeps the pages that were read.
 */
export function recognitionLimits(overrides: Partial<WorkerPoolLimits> = {}): WorkerPoolLimits {
	return workerPoolLimits(1, { parseCpuMs: 2_400_000, parseTimeoutMs: 7_200_000, parseRssMb: 1536, ...overrides });
}
