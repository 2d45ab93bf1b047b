import type { ApiClient } from '../../load/deploy.ts';
import { jsonCaller } from '../../load/json-caller.ts';
import { startLoadProcess } from '../../load/load-process.ts';
import type { MessageCeilingReady } from './process.ts';
import type { MessageCeilingOptions } from './server.ts';

/** The process that streams messages with the least work on the libraries that Parley uses: the upper bound for servers on them. */
export interface MessageCeiling extends ApiClient, Disposable {
	readonly pid: number;
}

const START_TIMEOUT_MS = 60_000;

/** Starts it with a new database. @param cpu the core to run on; absent: any */
export async function startMessageCeilingProcess(
	options: MessageCeilingOptions,
	cpu?: number,
): Promise<MessageCeiling> {
	const child = startLoadProcess<MessageCeilingOptions, MessageCeilingReady>(
		new URL('./process.ts', import.meta.url),
		cpu,
	);
	const { port } = await child.send(options, START_TIMEOUT_MS);
	return {
		pid: child.pid,
		...jsonCaller(port, 'the-ceiling-checks-no-key'),
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}
