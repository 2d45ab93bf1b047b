import type { Random } from '../support/random.ts';

/** What a disk writes at once or not at all. */
const SECTOR = 512;
const HEAD_BYTES = 32;

/** A system call on the database or its log that has succeeded. */
export interface TracedCall {
	operation: 'write' | 'sync' | 'truncate';
	file: 'database' | 'log';
	/** Of a write; the new size of a truncated file. */
	offset: number;
	bytes: Buffer;
	/** Milliseconds of the monotonic clock. */
	at: number;
}

/** Reads what fault-shim.c has recorded. A record that the end of the process has cut is left out. */
export function readTrace(trace: Buffer): TracedCall[] {
	const calls: TracedCall[] = [];
	for (let at = 0; at + HEAD_BYTES <= trace.length; ) {
		const operation = ({ 1: 'write', 2: 'sync', 4: 'truncate' } as const)[trace.readUInt32LE(at)];
		const file = ({ 1: 'database', 2: 'log' } as const)[trace.readUInt32LE(at + 4)];
		if (operation === undefined || file === undefined) throw new Error(`The trace has no record at ${at}.`);
		const offset = Number(trace.readBigUInt64LE(at + 8));
		const length = Number(trace.readBigUInt64LE(at + 16));
		const end = at + HEAD_BYTES + length;
		if (end > trace.length) break;
		const bytes = trace.subarray(at + HEAD_BYTES, end);
		calls.push({ operation, file, offset, bytes, at: Number(trace.readBigUInt64LE(at + 24)) / 1e6 });
		at = end;
	}
	return calls;
}

/**
 * The files after a loss of power behind the first `count` calls: synced writes are there; of the others the disk has kept all, none, or
 * some sectors, in any order. Also the number of sectors that it has kept.
 */
export function imageAt(
	trace: readonly TracedCall[],
	count: number,
	random: Random,
): { database: Buffer; log: Buffer; torn: number } {
	const keeps = random.pick([0, 0.3, 0.7, 0.95]);
	let torn = 0;
	const contents = (['database', 'log'] as const).map((file) => {
		const image = new FileImage();
		let pending: TracedCall[] = [];
		for (const call of trace.slice(0, count)) {
			if (call.file !== file) continue;
			if (call.operation !== 'sync') {
				pending.push(call);
				continue;
			}
			for (const each of pending) image.apply(each);
			pending = [];
		}
		for (const part of shuffled(pending.flatMap(sectorsOf), random)) {
			if (!random.chance(keeps)) continue;
			image.apply(part);
			torn++;
		}
		return image.bytes;
	});
	return { database: contents[0] as Buffer, log: contents[1] as Buffer, torn };
}

class FileImage {
	#buffer = Buffer.alloc(1024 * 1024);
	#size = 0;

	get bytes(): Buffer {
		return this.#buffer.subarray(0, this.#size);
	}

	apply({ operation, offset, bytes }: TracedCall): void {
		const end = operation === 'truncate' ? offset : Math.max(this.#size, offset + bytes.length);
		if (end > this.#buffer.length) {
			const larger = Buffer.alloc(2 * end);
			this.#buffer.copy(larger, 0, 0, this.#size);
			this.#buffer = larger;
		}
		// What is written behind a truncated end later must be read as zeros.
		if (end < this.#size) this.#buffer.fill(0, end, this.#size);
		this.#size = end;
		if (operation === 'write') bytes.copy(this.#buffer, offset);
	}
}

/** The parts of a write that lie in one sector each. */
function sectorsOf(call: TracedCall): TracedCall[] {
	if (call.operation !== 'write') return [call];
	const parts: TracedCall[] = [];
	for (let at = 0; at < call.bytes.length; ) {
		const length = Math.min(SECTOR - ((call.offset + at) % SECTOR), call.bytes.length - at);
		parts.push({ ...call, offset: call.offset + at, bytes: call.bytes.subarray(at, at + length) });
		at += length;
	}
	return parts;
}

function shuffled<T>(values: T[], random: Random): T[] {
	for (let at = values.length - 1; at > 0; at--) {
		const other = random.between(0, at);
		[values[at], values[other]] = [values[other] as T, values[at] as T];
	}
	return values;
}
