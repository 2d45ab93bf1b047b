import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Cores for the compared processes: servers on one and the load on another, so that they do not compete. Undefined on a machine with
 * a single core.
 */
export const SERVER_CPU: number | undefined = availableParallelism() > 1 ? 0 : undefined;
export const LOAD_CPU: number | undefined = availableParallelism() > 1 ? 1 : undefined;

/** Binds a process with all its threads to a core, if the system has `taskset`. */
export function pin(pid: number, cpu: number | undefined): boolean {
	if (cpu === undefined) return false;
	return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)]).status === 0;
}
