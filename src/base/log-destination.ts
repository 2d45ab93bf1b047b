import { write, writeSync } from 'node:fs';

/** The size of the buffer. Lines beyond it are lost and counted. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** The delay before a retry: after a full pipe, and after another failure such as a full disk. */
const FULL_PIPE_MS = 50;
const FAILURE_MS = 1_000;
/** The longest wait of an exiting process for a full pipe. */
const EXIT_FLUSH_MS = 5_000;

/**
 * Writes lines to a file descriptor asynchronously, and the buffered rest when the process exits. No failure of the descriptor
 * ends the process or blocks its exit: lines wait until a full disk has space, and are dropped when the reader of a pipe has
 * closed it. (With pino's own destination a full disk ends the process, and its exit then never returns.)
 */
export class LogDestination {
	readonly #descriptor: number;
	readonly #onLost: (lines: number) => void;
	#waiting: string[] = [];
	#waitingBytes = 0;
	/** The chunk that is being written or retried. */
	#chunk: Buffer | null = null;
	/** Whether the chunk has been passed to the operating system. */
	#writing = false;
	#lostLines = 0;
	/** The reader has closed the pipe. */
	#closed = false;

	/** @param onLost receives the number of lost lines, once lines can be written again */
	constructor(descriptor: number, onLost: (lines: number) => void) {
		this.#descriptor = descriptor;
		this.#onLost = onLost;
		process.on('exit', () => this.flushSync());
	}

	write(line: string): void {
		if (this.#closed) return;
		const bytes = Buffer.byteLength(line);
		if (this.#waitingBytes + bytes > MAX_BUFFERED_BYTES) {
			this.#lostLines++;
			return;
		}
		this.#waiting.push(line);
		this.#waitingBytes += bytes;
		if (this.#chunk === null) this.#writeChunk();
	}

	/** Writes the buffer synchronously. What cannot be written now is lost. */
	flushSync(): void {
		// The operating system writes a chunk that it already has.
		const tried = this.#chunk === null || this.#writing ? [] : [this.#chunk];
		let rest = Buffer.concat([...tried, Buffer.from(this.#waiting.join(''))]);
		if (!this.#writing) this.#chunk = null;
		this.#waiting = [];
		this.#waitingBytes = 0;
		const deadline = performance.now() + EXIT_FLUSH_MS;
		while (rest.length > 0 && !this.#closed) {
			try {
				rest = rest.subarray(writeSync(this.#descriptor, rest));
			} catch (error) {
				if (!isFullPipe(error) || performance.now() >= deadline) return;
				Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
			}
		}
	}

	/** Writes the rest of the current chunk, or else all waiting lines. */
	#writeChunk(): void {
		if (this.#chunk === null) {
			if (this.#waiting.length === 0) return;
			this.#chunk = Buffer.from(this.#waiting.join(''));
			this.#waiting = [];
		}
		this.#writing = true;
		write(this.#descriptor, this.#chunk, (error, written) => {
			this.#writing = false;
			if (error !== null) this.#failed(error);
			else this.#wrote(written);
		});
	}

	#wrote(bytes: number): void {
		this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes);
		const rest = this.#chunk?.subarray(bytes) ?? Buffer.alloc(0);
		this.#chunk = rest.length > 0 ? rest : null;
		if (this.#chunk === null && this.#lostLines > 0) {
			const lost = this.#lostLines;
			this.#lostLines = 0;
			this.#onLost(lost);
		}
		// The line about lost lines may have started a chunk already.
		if (!this.#writing) this.#writeChunk();
	}

	#failed(error: NodeJS.ErrnoException): void {
		if (error.code === 'EPIPE') {
			this.#closed = true;
			this.#waiting = [];
			this.#chunk = null;
			return;
		}
		const again = setTimeout(
			() => {
				if (this.#chunk !== null && !this.#writing) this.#writeChunk();
			},
			isFullPipe(error) ? FULL_PIPE_MS : FAILURE_MS,
		);
		again.unref();
	}
}

function isFullPipe(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}
