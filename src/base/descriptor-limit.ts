import { readFileSync } from 'node:fs';

/** Of files, the database, workers and connections to others. */
const RESERVED_SHARE = 0.25;
const MIN_RESERVED = 128;
const MAX_RESERVED = 4096;
const PARTS = 8;
const PARTS_OF_ALL = 64;

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

/** How many descriptors each use may take at once. What is left is for the database, workers and whatever else there is. */
export interface DescriptorShares {
	/** Connections of clients. */
	clients: number;
	/** Connections to the providers of models, all of them together. */
	models: number;
	/** Connections to tools. */
	tools: number;
	/** Deliveries to webhooks. */
	deliveries: number;
	/** Files that are being received. */
	uploads: number;
}

/** Divides so many descriptors. Clients get what is not reserved; the reserve is divided so that no use can take all of it. */
export function descriptorShares(descriptors = descriptorLimit()): DescriptorShares {
	const wanted = Math.min(Math.max(descriptors * RESERVED_SHARE, MIN_RESERVED), MAX_RESERVED);
	const reserve = Math.min(wanted, descriptors / 2);
	// With very many descriptors clients never take their share, and memory is what bounds the rest.
	const part = Math.max(reserve / PARTS, descriptors / PARTS_OF_ALL);
	return {
		clients: Math.floor(descriptors - reserve),
		models: Math.floor(part * 2.5),
		tools: Math.floor(part),
		deliveries: Math.floor(part * 1.5),
		uploads: Math.floor(part * 0.75),
	};
}
