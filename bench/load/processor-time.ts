import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in which Linux counts processor time; the same on every architecture. */
const TICKS = 100;

/** Processor time of a process so far (s), all threads; null without /proc. */
export function processorTime(pid: number): number | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The command's name, in parentheses, may have spaces. User and system time are the 12th and 13th field after it.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return (Number(fields[11]) + Number(fields[12])) / TICKS;
	} catch {
		return null;
	}
}

/** Processor time of a process and of its children so far (s), those that have ended included; null without /proc. */
export function processorTimeOfFamily(pid: number): number | null {
	try {
		const fieldsOf = (id: string | number) => {
			const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
			return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		};
		const own = fieldsOf(pid);
		let ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(own[field]), 0);
		for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
			try {
				const fields = fieldsOf(id);
				if (Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12]);
			} catch {
				// It has ended meanwhile.
			}
		}
		return ticks / TICKS;
	} catch {
		return null;
	}
}

/** Processor time of all processes of the machine so far (s); null without /proc. */
export function machineTime(): number | null {
	try {
		const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
		const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/).slice(1).map(Number);
		return (user + nice + system + irq + softirq) / TICKS;
	} catch {
		return null;
	}
}

/** Busy cores during a measurement, on average; null without /proc. */
export interface CoresUsed {
	/** For each process, in the given order. */
	each: (number | null)[];
	/** For everything else on the machine, this process included. */
	others: number | null;
}

/** Starts to measure processes. The returned function gives the result. */
export function measureCores(pids: readonly number[]): () => CoresUsed {
	const sample = () => ({ at: performance.now(), each: pids.map(processorTime), all: machineTime() });
	const before = sample();
	return () => {
		const after = sample();
		const seconds = (after.at - before.at) / 1000;
		const used = (from: number | null | undefined, to: number | null | undefined) =>
			from == null || to == null ? null : (to - from) / seconds;
		const each = after.each.map((time, index) => used(before.each[index], time));
		const all = used(before.all, after.all);
		const measured = each.reduce<number>((sum, cores) => sum + (cores ?? 0), 0);
		return { each, others: all === null ? null : Math.max(0, all - measured) };
	};
}
