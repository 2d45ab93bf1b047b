import { createLog } from '../../src/base/index.ts';
import { createWorkerPool, type WorkerPool } from '../../src/pool/index.ts';

const OPTIONS = { threads: 2, log: createLog('silent') };

/** Of all servers in this process. Idle, it does not keep the process running, and it ends with it. */
let shared: WorkerPool | undefined;

/**
 * A worker pool for one server. All of them parse and embed in the same parsing process and threads, because starting those takes more
 * processor time than most documents. Each has threads of its own for searches, which keep the server's database open, and for checks.
 */
export function openSharedWorkerPool(): WorkerPool {
	shared ??= createWorkerPool(OPTIONS);
	const { parse, warmUp, fold, train } = shared;
	const own = createWorkerPool(OPTIONS);
	return { ...own, parse, warmUp, fold, train };
}
