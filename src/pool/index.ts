export type { WorkerPoolLimits } from './limits.ts';
export { findRecognitionPackages } from './recognition-packages.ts';
export { TextRecogniser } from './text-recogniser.ts';
export { WorkLimitExceeded } from './work-limit-exceeded.ts';
export { type WorkerEntry, workerEntry } from './worker-entry.ts';
export { createWorkerPool, type ParseOptions, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';
