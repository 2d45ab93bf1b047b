import { write, writeSync } from 'node:fs';

/** What may wait to be written. Lines beyond that are lost, and counted. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** Until a full pipe is tried again, and until anything else is, such as a full disk. */
const FULL_PIPE_MS = 50;
const FAILURE_MS = 1_000;
/** A process that exits waits no longer for a full pipe. */
const LAST_LINES_MS = 5_000;

/**
 * Writes lines to a file descriptor beside the work, and what still waits when the process exits. No failure of the descriptor
 * ends the process or holds up its exit: lines wait until a full disk has room, and are dropped where no program reads them any
 * more. (With pino's own destination a full disk ends the process, and an exit then never returns.)
 */
export class LogDestination {
	readonly #descriptor: number;
	readonly #onLost: (lines: number) => void;
	#waiting: string[] = [];
	#waitingBytes = 0;
	/** What is being written, or is tried again. */
	#portion: Buffer | null = null;
	/** Whether the portion is in the hands of the system. */
	#writing = false;
	#lost = 0;
	/** The reader has gone. */
	#closed = false;

	/** @param onLost receives the number of lines that were lost, once others are written again */
	constructor(descriptor: number, onLost: (lines: number) => void) {
		this.#descriptor = descriptor;
		this.#onLost = onLost;
		process.on('exit', () => this.flushSync());
	}

	write(line: string): void {
		if (this.#closed) return;
		const bytes = Buffer.byteLength(line);
		if (this.#waitingBytes + bytes > MAX_BUFFERED_BYTES) {
			this.#lost++;
			return;
		}
		this.#waiting.push(line);
		this.#waitingBytes += bytes;
		if (this.#portion === null) this.#writePortion();
	}

	/** Writes what waits before it returns. What cannot be written now is lost. */
	flushSync(): void {
		// What is in the hands of the system is written by it.
		const tried = this.#portion === null || this.#writing ? [] : [this.#portion];
		let rest = Buffer.concat([...tried, Buffer.from(this.#waiting.join(''))]);
		if (!this.#writing) this.#portion = null;
		this.#waiting = [];
		this.#waitingBytes = 0;
		const until = performance.now() + LAST_LINES_MS;
		while (rest.length > 0 && !this.#closed) {
			try {
				rest = rest.subarray(writeSync(this.#descriptor, rest));
			} catch (error) {
				if (!isFullPipe(error) || performance.now() >= until) return;
				Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
			}
		}
	}

	/** Goes on with what was not written, else with all that waits. */
	#writePortion(): void {
		if (this.#portion === null) {
			if (this.#waiting.length === 0) return;
			this.#portion = Buffer.from(this.#waiting.join(''));
			this.#waiting = [];
		}
		this.#writing = true;
		write(this.#descriptor, this.#portion, (error, written) => {
			this.#writing = false;
			if (error !== null) this.#failed(error);
			else this.#wrote(written);
		});
	}

	#wrote(bytes: number): void {
		this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes);
		const rest = this.#portion?.subarray(bytes) ?? Buffer.alloc(0);
		this.#portion = rest.length > 0 ? rest : null;
		if (this.#portion === null && this.#lost > 0) {
			const lost = this.#lost;
			this.#lost = 0;
			this.#onLost(lost);
		}
		// The line about lost ones may have begun a portion of its own.
		if (!this.#writing) this.#writePortion();
	}

	#failed(error: NodeJS.ErrnoException): void {
		if (error.code === 'EPIPE') {
			this.#closed = true;
			this.#waiting = [];
			this.#portion = null;
			return;
		}
		const again = setTimeout(
			() => {
				if (this.#portion !== null && !this.#writing) this.#writePortion();
			},
			isFullPipe(error) ? FULL_PIPE_MS : FAILURE_MS,
		);
		again.unref();
	}
}

function isFullPipe(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}
