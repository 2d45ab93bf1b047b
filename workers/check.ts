import type { ArgumentCheckJob, ArgumentCheckResult, WorkerResult } from '../src/contract/index.ts';
import { checkArguments } from '../src/tools/parameters/index.ts';

/** Validates the arguments of a tool call against its schema. */
export default async function check(job: ArgumentCheckJob): Promise<WorkerResult<ArgumentCheckResult>> {
	return { ok: true, value: checkArguments(job) };
}
