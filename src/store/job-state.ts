import { timeOfId } from '../base/index.ts';
import type { StoreState } from './opened-store.ts';

/**
 * The jobs of a kind, as both stores select them, and the two oldest ones that are not claimed. A job that is due at once has the time 0,
 * and its id has the time of its creation, from which it counts, also if it was postponed in between: its age is an upper
 * bound.
 */
export interface JobCounts {
	kind: string;
	count: number;
	oldest_due_at: number | null;
	/** The first id of those that are due at once; null: there is none. */
	oldest_id: string | null;
}

/** The columns of `JobCounts`, of jobs in groups by kind. @param now the present time (ms since the epoch) in SQL */
export const jobCountColumns = (now: string) =>
	`kind, count(*) AS count, min(due_at) FILTER (WHERE due_at > 0 AND lease_until <= ${now}) AS oldest_due_at,
	 min(id) FILTER (WHERE due_at = 0 AND lease_until <= ${now}) AS oldest_id`;

export function jobStates(counts: readonly JobCounts[]): StoreState['jobs'] {
	return counts.map(({ kind, count, ...oldest }) => ({ kind, count, oldest_due_at: oldestDueAt(oldest) }));
}

/** Since when the oldest of the jobs is due (ms since the epoch); null: none waits. */
export function oldestDueAt({
	oldest_due_at,
	oldest_id,
}: Pick<JobCounts, 'oldest_due_at' | 'oldest_id'>): number | null {
	const times = [oldest_due_at, oldest_id === null ? null : timeOfId(oldest_id)].filter((time) => time !== null);
	return times.length === 0 ? null : Math.min(...times);
}
