import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../../src/base/index.ts';
import { pin } from './cores.ts';

/** A process of a bench beside the server. It executes commands, one at a time. */
export interface LoadProcess<Order, Answer> extends Disposable {
	readonly pid: number;
	/** Rejects if the process exits or does not respond in time. */
	send(order: Order, limitMs: number): Promise<Answer>;
}

/** Starts a process. @param cpu the core to run on, if the system supports that */
export function startLoadProcess<Order extends object, Answer>(script: URL, cpu?: number): LoadProcess<Order, Answer> {
	const name = fileURLToPath(script);
	const child = fork(name, { execArgv: ['--import', 'tsx'] });
	if (cpu !== undefined) pin(child.pid as number, cpu);
	const ended = once(child, 'exit').then(([code]) => {
		throw new Error(`${name} exited (${code}).`);
	});
	ended.catch(() => {});
	return {
		pid: child.pid as number,
		async send(order, limitMs) {
			child.send(order);
			const answer = Promise.race([once(child, 'message'), ended]);
			const [message] = await withDeadline(answer, limitMs, () => new Error(`${name} does not respond.`));
			return message as Answer;
		},
		[Symbol.dispose]: () => void child.kill(),
	};
}

/** For the child process: executes commands, and exits with its parent. */
export function serveCommands<Order, Answer>(handle: (command: Order) => Promise<Answer>): void {
	process.on('message', (command: Order) => {
		handle(command).then(
			(answer) => process.send?.(answer),
			(error: unknown) => {
				throw error;
			},
		);
	});
	process.on('disconnect', () => process.exit());
}
