import { type Log, messageOf, PeriodicTask } from '../base/index.ts';
import { type FenceOf, fenceOfTask } from '../store/index.ts';
import type { Documents } from './documents.ts';

const INTERVAL_MS = 24 * 3_600_000;
/** Which node has the task changes, so each looks at this interval whether it is due (ms). */
const CHECK_MS = 60_000;

/** Removes files without a document once a day, on the node of the cluster that has the task. */
export function unusedFilesTask(documents: Documents, fenceOf: FenceOf, log: Log): PeriodicTask {
	let dueAt = 0;
	return new PeriodicTask({
		intervalMs: CHECK_MS,
		async run(signal) {
			if (performance.now() < dueAt || fenceOfTask(fenceOf, 'unused_blobs') === null) return;
			await documents.removeOrphanedBlobs(signal);
			dueAt = performance.now() + INTERVAL_MS;
		},
		onFailure: (error) => log.error({ error: messageOf(error) }, 'unused files could not be removed'),
	});
}
