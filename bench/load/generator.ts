import type { Order, Outcome } from './arrivals.ts';
import { startLoadProcess } from './load-process.ts';

/** The load generator's process. */
export interface Generator extends Disposable {
	/** Sends what is ordered and resolves with what was seen. One order at a time. */
	run(order: Order): Promise<Outcome>;
}

/** Starts it. */
export function startGenerator(): Generator {
	const child = startLoadProcess<Order, Outcome>(new URL('./arrivals.ts', import.meta.url));
	return {
		run: (order) => child.ask(order, (order.seconds + 15) * 1000),
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}
