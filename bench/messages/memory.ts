import { readFileSync, writeFileSync } from 'node:fs';
import { sleep } from '../../src/base/index.ts';
import { type Figure, once } from '../report/figure.ts';

const MAX_PEAK_MIB = 220;
const MAX_SETTLED_MIB = 150;
const SETTLE_MS = 60_000;

/** Forgets the highest memory of a process so far, where the system allows that. */
export function forgetPeak(pid: number): void {
	try {
		writeFileSync(`/proc/${pid}/clear_refs`, '5');
	} catch {
		// The peak then counts from the start of the process.
	}
}

/** The highest resident memory of a process (MiB); NaN without /proc. */
export function peakMemory(pid: number): number {
	return statusOf(pid, 'VmHWM');
}

/** Peak memory of a server under load, and its resident memory a minute later. */
export async function memoryFigures(pid: number): Promise<Figure[]> {
	const peak = peakMemory(pid);
	await sleep(SETTLE_MS);
	return [
		{ name: 'peak memory of all cases', unit: 'MiB', value: once(peak), goal: { is: 'at most', bound: MAX_PEAK_MIB } },
		{
			name: 'memory a minute after the load',
			unit: 'MiB',
			value: once(statusOf(pid, 'VmRSS')),
			goal: { is: 'at most', bound: MAX_SETTLED_MIB },
		},
	];
}

function statusOf(pid: number, field: string): number {
	try {
		const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
		return Number(line?.[1]) / 1024;
	} catch {
		return Number.NaN;
	}
}
