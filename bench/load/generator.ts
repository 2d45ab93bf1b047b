import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../../src/base/index.ts';
import type { Order, Outcome } from './arrivals.ts';

/** The load generator's process. */
export interface Generator extends Disposable {
	/** Sends what is ordered and resolves with what was seen. One order at a time. */
	run(order: Order): Promise<Outcome>;
}

/** Starts it. */
export function startGenerator(): Generator {
	const child = fork(fileURLToPath(new URL('./arrivals.ts', import.meta.url)), {
		execArgv: ['--import', 'tsx'],
	});
	const ended = once(child, 'exit').then(([code]) => {
		throw new Error(`The load generator ended (${code}).`);
	});
	ended.catch(() => {});
	return {
		async run(order) {
			child.send(order);
			const answer = Promise.race([once(child, 'message'), ended]);
			const limit = (order.seconds + 15) * 1000;
			const [outcome] = await withDeadline(answer, limit, () => new Error('The load generator does not answer.'));
			return outcome as Outcome;
		},
		[Symbol.dispose]: () => void child.kill(),
	};
}
