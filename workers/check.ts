import type { ArgumentCheckJob, ArgumentCheckResult, WorkerResult } from '../src/contract/index.ts';
import { checkArguments } from '../src/tools/parameters/index.ts';

/** Holds the arguments of a tool's call against its schema, however long that takes. */
export default async function check(job: ArgumentCheckJob): Promise<WorkerResult<ArgumentCheckResult>> {
	return { ok: true, value: checkArguments(job) };
}
