import { newId } from '../../base/index.ts';
import type { JobWrite, SourceRecord, Write } from '../../store/index.ts';
import { INGEST } from '../document-changes.ts';

/** The kind of job that runs a source. Its `ref` is the source. */
export const CRAWL = 'crawl';

const HOUR = 3_600_000;
const MAX_REFRESH_HOURS = 720;
/** A run that found its site unavailable is repeated after this time, or earlier if the source is refreshed earlier. */
const REPEAT_MS = HOUR;
/** The store treats a job as due that waits longer than a day. A job that is claimed too early waits again. */
const MAX_WAIT_MS = 12 * HOUR;

/** When a job has to look at its source again. */
export function nextClaimAt(nextRunAt: number, now: number): number {
	return Math.min(nextRunAt, now + MAX_WAIT_MS);
}

/** Whether a run is due. A time farther ahead than the interval shows that the clock was set back. */
export function isDue({ next_run_at, refresh_hours }: SourceRecord, now: number): boolean {
	if (next_run_at === null) return false;
	return next_run_at <= now || next_run_at > now + (refresh_hours ?? MAX_REFRESH_HOURS) * HOUR;
}

/** When the next run begins; null: only on request. */
export function nextRunAt(
	{ refresh_hours }: Pick<SourceRecord, 'refresh_hours'>,
	isSoon: boolean,
	finishedAt: number,
): number | null {
	if (refresh_hours === null) return null;
	return finishedAt + Math.min(refresh_hours * HOUR, isSoon ? REPEAT_MS : Number.POSITIVE_INFINITY);
}

/** The parts of a commit that ends a run. */
export function endOfRun(
	source: SourceRecord,
	error: SourceRecord['error'],
	now: number,
): { set: Partial<SourceRecord>; write: Write[]; jobs: JobWrite[] } {
	// A site that does not answer may answer soon. What is not there, or not allowed, stays so for longer.
	const next_run_at = nextRunAt(source, error?.code === 'unreadable_file', now);
	return {
		set: { running: 0, error, finished_at: now, next_run_at, updated_at: now },
		write: [{ op: 'sources.clear_frontier', source_id: source.id }],
		jobs: [
			...replaceJob(source, next_run_at === null ? null : nextClaimAt(next_run_at, now)),
			// Its documents wait no longer for each other.
			{ op: 'make_due', kind: INGEST, group: source.knowledge_base_id },
		],
	};
}

/** Replaces the job of a source by a job that is due at this time; null: by none. */
export function replaceJob({ id, knowledge_base_id }: SourceRecord, due_at: number | null): JobWrite[] {
	const removal: JobWrite = { op: 'complete_all', ref: id, kind: CRAWL };
	if (due_at === null) return [removal];
	return [
		removal,
		{ op: 'enqueue', job: { id: newId('job'), kind: CRAWL, ref: id, group: knowledge_base_id, due_at } },
	];
}
