import type { LoadResult } from '../load/arrivals.ts';
import type { Generator } from '../load/generator.ts';
import { processorTime } from '../load/processor-time.ts';
import { ORIGIN } from './deployments.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** The load of a round. */
export interface Load {
	/** Requests a second; null: as many as the server answers. */
	rate: number | null;
	seconds: number;
	connections: number;
}

/** Results of one round. */
export interface Round extends LoadResult {
	/** Responses a second. */
	perSecond: number;
	/** Processor time of the server for each response, all threads; NaN without /proc. */
	microsecondsEach: number;
	/** Cores that were busy on average. */
	serverCores: number;
	loadCores: number;
}

/** The specification's target: milliseconds at the 95th percentile. */
export const TARGET_P95_MS = 300;

/** Headers of a browser's request that the servers read. */
const HEADERS = [`Origin: ${ORIGIN}`, 'User-Agent: bench', 'Accept: application/json', 'Accept-Encoding: gzip'];

/** Runs one round. @throws Error if a response is not a configuration */
export async function measure(generator: Generator, serverUnderTest: ServerUnderTest, load: Load): Promise<Round> {
	const { pid, port, paths } = serverUnderTest;
	const time = () => [pid, generator.pid].map((of) => processorTime(of) ?? Number.NaN) as [number, number];
	const before = time();
	const outcome = await generator.run({ port, paths, headers: HEADERS, ...load });
	const after = time();
	if (outcome.failed > 0) throw new Error(`${outcome.failed} requests were not answered with a configuration.`);
	const [server, generating] = [after[0] - before[0], after[1] - before[1]];
	return {
		...outcome,
		perSecond: outcome.answered / outcome.seconds,
		microsecondsEach: (server / outcome.answered) * 1e6,
		serverCores: server / outcome.seconds,
		loadCores: generating / outcome.seconds,
	};
}

/** The 95th percentile (ms); infinite if too many requests were not answered. */
export function p95Of({ p95, answered, scheduled }: Pick<LoadResult, 'p95' | 'answered' | 'scheduled'>): number {
	return answered === scheduled ? p95 : Number.POSITIVE_INFINITY;
}
