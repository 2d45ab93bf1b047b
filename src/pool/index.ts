export { createPool, type Pool } from './pool.ts';
export { type WorkerEntry, workerEntry } from './worker-entry.ts';
