export type { PoolLimits } from './limits.ts';
export { createPool, type ParseOptions, type Pool, type PoolOptions } from './pool.ts';
export { type WorkerEntry, workerEntry } from './worker-entry.ts';
