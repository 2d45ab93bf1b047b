import type { ServerProcess } from '../../test/support/server-process.ts';
import { startLoadProcess } from './load-process.ts';
import type { RequestsCommand, RequestsResult } from './requests.ts';

/** A load without the server's port and key, which are added. */
export type RequestLoad = Omit<RequestsCommand, 'port' | 'key'>;

/** A process that sends a load of API requests. */
export interface Requester extends Disposable {
	/** @throws Error if a request failed or was not answered in time */
	run(server: Pick<ServerProcess, 'port' | 'key'>, requests: RequestLoad): Promise<RequestsResult>;
}

const TIMEOUT_MARGIN_MS = 60_000;

/** Starts it. */
export function startRequester(): Requester {
	const child = startLoadProcess<RequestsCommand, RequestsResult>(new URL('./requests.ts', import.meta.url));
	return {
		async run({ port, key }, requests) {
			const seen = await child.send({ port, key, ...requests }, (requests.seconds ?? 0) * 1000 + TIMEOUT_MARGIN_MS);
			if (seen.failed > 0) throw new Error(`${seen.failed} requests failed. The first: ${seen.firstFailure}`);
			return seen;
		},
		[Symbol.dispose]: () => child[Symbol.dispose](),
	};
}
