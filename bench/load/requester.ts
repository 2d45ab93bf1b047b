import type { ServerProcess } from '../../test/support/server-process.ts';
import { startLoadProcess } from './load-process.ts';
import type { RequestsOrder, RequestsSeen } from './requests.ts';

/** What is sent, and how; to which server and with which key is added. */
export type Requests = Omit<RequestsOrder, 'port' | 'key'>;

/** The process that a load of API requests comes from. */
export interface Requester extends Disposable {
	/** @throws Error where a request failed, or was not answered in time */
	run(server: Pick<ServerProcess, 'port' | 'key'>, requests: Requests): Promise<RequestsSeen>;
}

const MARGIN_MS = 60_000;

/** Starts it. */
export function startRequester(): Requester {
	const child = startLoadProcess<RequestsOrder, RequestsSeen>(new URL('./requests.ts', import.meta.url));
	return {
		async run({ port, key }, requests) {
			const seen = await child.ask({ port, key, ...requests }, (requests.seconds ?? 0) * 1000 + MARGIN_MS);
			if (seen.failed > 0) throw new Error(`${seen.failed} requests failed. The first: ${seen.complaint}`);
			return seen;
		},
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}
