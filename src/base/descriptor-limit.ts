import { readFileSync } from 'node:fs';

/** The share of descriptors for files, the database, workers and outgoing connections. */
const RESERVED_SHARE = 0.25;
const MIN_RESERVED = 128;
const MAX_RESERVED = 4096;
const PARTS = 8;
const PARTS_OF_ALL = 64;

/** How many file descriptors this process may have open; infinite without a limit. */
function descriptorLimit(): number {
	try {
		return readLimit(readFileSync('/proc/self/limits', 'utf8'));
	} catch {
		// Not Linux. Except on Windows, the process report has the limit.
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

/** How many descriptors each use may have open. The rest is for the database, workers and everything else. */
export interface DescriptorShares {
	/** Connections of clients. */
	clients: number;
	/** Connections to all providers of models together. */
	models: number;
	/** Connections to tools. */
	tools: number;
	/** Deliveries to webhooks. */
	deliveries: number;
	/** Uploads in progress. */
	uploads: number;
}

/** Divides the descriptors. Clients get what is not reserved; the reserve is divided so that no use can take all of it. */
export function descriptorShares(descriptors = descriptorLimit()): DescriptorShares {
	const wanted = Math.min(Math.max(descriptors * RESERVED_SHARE, MIN_RESERVED), MAX_RESERVED);
	const reserve = Math.min(wanted, descriptors / 2);
	// With very many descriptors clients never use their share, and memory limits the rest.
	const part = Math.max(reserve / PARTS, descriptors / PARTS_OF_ALL);
	return {
		clients: Math.floor(descriptors - reserve),
		models: Math.floor(part * 2.5),
		tools: Math.floor(part),
		deliveries: Math.floor(part * 1.5),
		uploads: Math.floor(part * 0.75),
	};
}
