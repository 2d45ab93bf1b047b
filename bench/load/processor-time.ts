import { readFileSync } from 'node:fs';

/** Clock ticks a second in which Linux counts a process's time for other processes; the same on every architecture. */
const TICKS = 100;

/** Seconds of processor time that a process has used so far, all threads; null where /proc does not tell. */
export function processorTime(pid: number): number | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The command's name, in parentheses, may hold spaces; user and system time are the 12th and 13th field after it.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return (Number(fields[11]) + Number(fields[12])) / TICKS;
	} catch {
		return null;
	}
}
