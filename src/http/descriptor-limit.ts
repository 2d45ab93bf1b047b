import { readFileSync } from 'node:fs';

/** Of files, the database, workers and connections to others. */
const SHARE_RESERVED = 0.25;
const LEAST_RESERVED = 128;
const MOST_RESERVED = 4096;

/** How many file descriptors this process may have at once; infinite where the system sets no such limit. */
export function descriptorLimit(): number {
	try {
		return readLimit(readFileSync('/proc/self/limits', 'utf8'));
	} catch {
		// Not Linux. Where it is not Windows either, the report knows.
		const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
		const soft = Number(userLimits?.open_files?.soft);
		return Number.isInteger(soft) && soft > 0 ? soft : Number.POSITIVE_INFINITY;
	}
}

/** The soft limit in the text of Linux's `/proc/self/limits`. */
export function readLimit(limits: string): number {
	const found = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
	return found === undefined ? Number.POSITIVE_INFINITY : Number(found);
}

/** How many of so many descriptors clients may take: the rest is kept for files, the database, workers and outgoing connections. */
export function connectionsOf(descriptors: number): number {
	const reserved = Math.min(Math.max(descriptors * SHARE_RESERVED, LEAST_RESERVED), MOST_RESERVED);
	return Math.floor(Math.max(descriptors - reserved, descriptors / 2));
}
