import type { LoadResult } from '../load/arrivals.ts';
import type { Generator } from '../load/generator.ts';
import { processorTime } from '../load/processor-time.ts';
import { ORIGIN } from './deployments.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** How much is asked. */
export interface Load {
	/** A second; null: as much as is answered. */
	rate: number | null;
	seconds: number;
	connections: number;
}

/** What one round has shown. */
export interface Round extends LoadResult {
	/** Answers a second. */
	perSecond: number;
	/** Of the server, all threads; NaN where /proc does not tell. */
	microsecondsEach: number;
	/** Cores that were busy on average. */
	serverCores: number;
	loadCores: number;
}

/** The specification's: milliseconds at the 95th percentile. */
export const TARGET_P95_MS = 300;

/** Headers that a browser's request has and that the servers look at. */
const HEADERS = [`Origin: ${ORIGIN}`, 'User-Agent: bench', 'Accept: application/json', 'Accept-Encoding: gzip'];

/** One round. @throws Error where something else than a configuration was answered */
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

/** The 95th percentile (ms); without a bound where not all were answered. */
export function p95Of({ p95, answered, scheduled }: Pick<LoadResult, 'p95' | 'answered' | 'scheduled'>): number {
	return answered === scheduled ? p95 : Number.POSITIVE_INFINITY;
}
