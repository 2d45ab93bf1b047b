import type { CheckJob, CheckResult, WorkerAnswer } from '../src/contract/index.ts';
import { checkArguments } from '../src/tools/parameters/index.ts';

/** Holds the arguments of a tool's call against its schema, however long that takes. */
export default async function check(job: CheckJob): Promise<WorkerAnswer<CheckResult>> {
	return { ok: true, value: checkArguments(job) };
}
