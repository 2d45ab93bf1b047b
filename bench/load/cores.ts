import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Where processes that are compared run: servers on one core and the load on another, so that neither takes the other's
 * time. Undefined on a machine with a single core.
 */
export const SERVER_CPU: number | undefined = availableParallelism() > 1 ? 0 : undefined;
export const LOAD_CPU: number | undefined = availableParallelism() > 1 ? 1 : undefined;

/** Keeps a process, all its threads, on one core, where the system has `taskset`; otherwise it runs where it may. */
export function pin(pid: number, cpu: number | undefined): boolean {
	if (cpu === undefined) return false;
	return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cpu), String(pid)]).status === 0;
}
