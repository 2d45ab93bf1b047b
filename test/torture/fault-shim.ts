import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../support/programs.ts';

const SOURCE = fileURLToPath(new URL('fault-shim.c', import.meta.url));

/** The words of the control file, in the order of `struct control` in fault-shim.c. */
const WORDS = [
	'armed',
	'operations',
	'files',
	'countdown',
	'action',
	'error',
	'repeats',
	'injected',
	'calls',
	'clockOffsetMs',
] as const;

const OPERATIONS = { write: 1, sync: 2, truncate: 4, any: 7 } as const;
const FILES = { database: 1, log: 2, both: 3 } as const;
const ACTIONS = { fail: 1, short: 2, 'kill before': 3, 'kill after': 4 } as const;

/** What the shim does at the `countdown`-th matching system call from now on. */
export interface Fault {
	operation: keyof typeof OPERATIONS;
	file: keyof typeof FILES;
	countdown: number;
	/** `short`: writes half of the bytes, then fails. */
	action: keyof typeof ACTIONS;
	error: 'EIO' | 'ENOSPC';
	/** How many calls in succession. */
	repeats: number;
}

/** Why the shim cannot be used here; false where it can. */
export function skipWithoutFaultShim(): string | false {
	if (process.platform !== 'linux') return 'skipped: LD_PRELOAD needs Linux';
	if (findProgram('cc') === null) return 'skipped: there is no C compiler (cc) for the library that makes writes fail';
	return false;
}

/** The library, compiled into a folder, and the file by which it is controlled while a server runs with it. */
export class FaultShim implements Disposable {
	/** For the server that is to have faults. */
	readonly env: Record<string, string>;
	readonly traceFile: string;
	readonly #control: number;

	/** @throws Error where it cannot be compiled */
	constructor(folder: string) {
		const library = join(folder, 'fault-shim.so');
		const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-o', library, SOURCE, '-ldl']);
		if (compiled.status !== 0) throw new Error(`cc cannot compile ${SOURCE}: ${compiled.stderr}`);
		const controlFile = join(folder, 'control');
		writeFileSync(controlFile, Buffer.alloc(WORDS.length * 8));
		this.#control = openSync(controlFile, 'r+');
		this.traceFile = join(folder, 'trace');
		this.env = { LD_PRELOAD: library, TORTURE_CONTROL: controlFile };
	}

	/** The environment of a server whose writes are recorded from its start in an empty trace. */
	tracingEnv(): Record<string, string> {
		writeFileSync(this.traceFile, '');
		return { ...this.env, TORTURE_TRACE: this.traceFile };
	}

	/** Faults that were injected since the last `arm`. */
	get injected(): number {
		return this.#read('injected');
	}

	arm({ operation, file, countdown, action, error, repeats }: Fault): void {
		this.disarm();
		this.#write('operations', OPERATIONS[operation]);
		this.#write('files', FILES[file]);
		this.#write('countdown', countdown);
		this.#write('action', ACTIONS[action]);
		this.#write('error', constants.errno[error]);
		this.#write('repeats', repeats);
		this.#write('injected', 0);
		this.#write('armed', 1);
	}

	disarm(): void {
		this.#write('armed', 0);
	}

	/** Moves the clock of the server, not its monotonic clock. */
	setClockOffset(ms: number): void {
		this.#write('clockOffsetMs', ms);
	}

	[Symbol.dispose](): void {
		closeSync(this.#control);
	}

	#write(word: (typeof WORDS)[number], value: number): void {
		const bytes = Buffer.alloc(8);
		bytes.writeBigInt64LE(BigInt(value));
		writeSync(this.#control, bytes, 0, 8, WORDS.indexOf(word) * 8);
	}

	#read(word: (typeof WORDS)[number]): number {
		const bytes = Buffer.alloc(8);
		readSync(this.#control, bytes, 0, 8, WORDS.indexOf(word) * 8);
		return Number(bytes.readBigInt64LE());
	}
}
