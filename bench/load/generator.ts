import type { LoadCommand, LoadResult } from './arrivals.ts';
import { startLoadProcess } from './load-process.ts';

/** The process of the load generator. */
export interface Generator extends Disposable {
	readonly pid: number;
	/** Runs a load and resolves with the results. One load at a time. */
	run(order: LoadCommand): Promise<LoadResult>;
}

/** Starts it. @param cpu the core to run on; absent: any */
export function startGenerator(cpu?: number): Generator {
	const child = startLoadProcess<LoadCommand, LoadResult>(new URL('./arrivals.ts', import.meta.url), cpu);
	return {
		pid: child.pid,
		run: (order) => child.send(order, (order.seconds + 15) * 1000),
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}
