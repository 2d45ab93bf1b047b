export { createPool, type Pool, type PoolLimits } from './pool.ts';
export { type WorkerEntry, workerEntry } from './worker-entry.ts';
