// biome-ignore lint/style/noRestrictedImports: it starts this same program again, only to parse documents.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../base/index.ts';
import type {
	FromParseHost,
	ParsedChunk,
	ParsedDocument,
	ParseJob,
	ToParseHost,
	WorkerResult,
} from '../contract/index.ts';
import type { WorkerEntry } from './worker-entry.ts';

export interface ParseProcessOptions {
	/** The entry of the process, and the entry of each of its threads. */
	host: WorkerEntry;
	worker: WorkerEntry;
	threads: number;
	/** The heap of one thread (MB). */
	heapMb: number;
	/** The processor time that one document may take (ms). */
	cpuMs: number;
	/** The resident memory at which the process is killed (MB). Watched on Linux only; elsewhere the heaps are bounded. */
	rssMb: number;
}

/** The end of a process. */
export interface ProcessEnd {
	/** `start`: it did not reach its own code. `threads`: it could not start or keep its threads. `memory`: killed because of its memory. */
	cause: 'start' | 'threads' | 'memory' | 'crash' | 'closed';
	/** For the log. */
	reason: string;
	/** The end of its standard error, for example V8's fatal error. */
	stderr: string;
}

/** The process ended before the document was parsed. It is unknown whether the document is the cause. */
export class ParseProcessEnded extends Error {
	override readonly name = 'ParseProcessEnded';
	readonly end: ProcessEnd;

	constructor(end: ProcessEnd) {
		super(`The process that parses ended: ${end.reason}`);
		this.end = end;
	}
}

/** The document has used up its processor time. */
export class ParseOvertime extends Error {
	override readonly name = 'ParseOvertime';
}

interface PendingParse {
	chunks: ParsedChunk[];
	resolve(answer: WorkerResult<ParsedDocument>): void;
	reject(reason: unknown): void;
}

/** The interval of memory checks while the process has work (ms). */
const MEMORY_CHECK_MS = 100;
/** The part of its standard error that is kept (characters). */
const MAX_STDERR_CHARS = 2_000;
/** The argument with which the single binary runs the parsing process from the folder that follows. */
const HOST_ARGUMENT = '--parse-host';

/**
 * The parsing process, from its start to its end. It inherits nothing but the folder for temporary files: it has its own
 * environment, and no descriptors except the IPC channel and standard error. It ends with the server.
 */
export class ParseProcess {
	/** Resolves when the process has ended; never rejects. */
	readonly ended: Promise<ProcessEnd>;
	readonly #child: ChildProcess;
	readonly #rssMb: number;
	readonly #pending = new Map<number, PendingParse>();
	#resolveEnded!: (end: ProcessEnd) => void;
	/** Set when the server kills it. It takes precedence over the exit code. */
	#killReason: Pick<ProcessEnd, 'cause' | 'reason'> | undefined;
	#end: ProcessEnd | undefined;
	/** Whether it has reached its own code. A process that ends before has not read any document. */
	#hasStarted = false;
	#memoryTimer: NodeJS.Timeout | undefined;
	#stderr = '';
	#parseCount = 0;

	constructor({ host, worker, threads, heapMb, cpuMs, rssMb }: ParseProcessOptions) {
		this.#rssMb = rssMb;
		this.ended = new Promise((resolve) => {
			this.#resolveEnded = resolve;
		});
		const script = fileURLToPath(host.file);
		const child = spawn(
			process.execPath,
			isSea() ? [HOST_ARGUMENT, dirname(dirname(script))] : [...host.execArgv, script],
			{
				// The single binary takes no Node options as arguments.
				env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}`, TMPDIR: tmpdir() },
				cwd: '/',
				stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
				serialization: 'json',
			},
		);
		this.#child = child;
		child.on('error', (error) => this.#onError(error));
		child.on('close', (code, signal) => {
			const { cause, reason } = this.#killReason ?? {
				cause: this.#hasStarted ? 'crash' : 'start',
				reason: signal ?? `exit code ${code}`,
			};
			this.#finish(cause, reason);
		});
		child.on('message', (message) => this.#receive(message as FromParseHost));
		// Without its channel it cannot work.
		child.on('disconnect', () => child.kill('SIGKILL'));
		child.stderr?.on('error', () => {});
		child.stderr?.on('data', (bytes: Buffer) => {
			this.#stderr = (this.#stderr + bytes.toString()).slice(-MAX_STDERR_CHARS);
		});
		// An idle process does not keep the server running; during work, the memory timer does.
		child.unref();
		child.channel?.unref();
		this.#stderrHandle?.unref();
		this.#send({
			type: 'start',
			worker: { file: worker.file.href, execArgv: worker.execArgv },
			threads,
			heapMb,
			cpuMs,
		});
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** Whether it accepts documents: it has not ended and was not killed. */
	get isUsable(): boolean {
		return this.#end === undefined && this.#killReason === undefined;
	}

	/** Whether it has not parsed anything yet. */
	get isFresh(): boolean {
		return this.#parseCount === 0;
	}

	/**
	 * @throws ParseProcessEnded; ParseOvertime; the signal's reason when it aborts; what the worker threw
	 */
	parse(job: ParseJob, signal: AbortSignal): Promise<WorkerResult<ParsedDocument>> {
		signal.throwIfAborted();
		if (this.#end) throw new ParseProcessEnded(this.#end);
		const id = ++this.#parseCount;
		return new Promise<WorkerResult<ParsedDocument>>((resolve, reject) => {
			const cleanUp = () => {
				signal.removeEventListener('abort', cancel);
				this.#pending.delete(id);
				if (this.#pending.size === 0) this.#stopMemoryTimer();
			};
			const cancel = () => {
				cleanUp();
				this.#send({ type: 'cancel', id });
				reject(signal.reason);
			};
			signal.addEventListener('abort', cancel, { once: true });
			this.#pending.set(id, {
				chunks: [],
				resolve(result) {
					cleanUp();
					resolve(result);
				},
				reject(reason) {
					cleanUp();
					reject(reason);
				},
			});
			this.#memoryTimer ??= setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
			this.#send({ type: 'parse', id, job });
		});
	}

	/** Kills it at once. It has no state that could be lost. */
	close(): void {
		this.#kill({ cause: 'closed', reason: 'it was not needed any more' });
	}

	/** A pipe; undefined if the process could not be started. */
	get #stderrHandle(): { ref(): void; unref(): void } | undefined {
		return (this.#child.stderr ?? undefined) as unknown as { ref(): void; unref(): void } | undefined;
	}

	#receive(message: FromParseHost): void {
		if (message.type === 'started') {
			this.#hasStarted = true;
			return;
		}
		if (message.type === 'broken') {
			this.#kill({ cause: 'threads', reason: message.reason });
			return;
		}
		const pending = this.#pending.get(message.id);
		// It was cancelled meanwhile.
		if (!pending) return;
		if (message.type === 'chunks') {
			for (const chunk of message.chunks) pending.chunks.push(chunk);
		} else if (message.type === 'overtime') {
			pending.reject(new ParseOvertime());
		} else if (message.type === 'failure') {
			pending.reject(Object.assign(new Error(message.message), { code: message.code }));
		} else {
			const { answer: result } = message;
			pending.resolve(result.ok ? { ok: true, value: { ...result.value, chunks: pending.chunks } } : result);
		}
	}

	#checkMemory(): void {
		if (process.platform !== 'linux') return;
		let status: string;
		try {
			status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
		} catch {
			// It has ended.
			return;
		}
		const mb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
		if (mb > this.#rssMb) this.#kill({ cause: 'memory', reason: `it took ${Math.round(mb)} MB of memory` });
	}

	#kill(reason: Pick<ProcessEnd, 'cause' | 'reason'>): void {
		if (this.#end) return;
		this.#killReason ??= reason;
		// The server waits for its end.
		this.#child.ref();
		this.#stderrHandle?.ref();
		this.#child.kill('SIGKILL');
	}

	/** `error` reports a failed start or a failed kill. Failed messages go to the callback of `send`. */
	#onError(error: Error): void {
		if (this.#child.pid === undefined) this.#finish('start', messageOf(error));
	}

	#finish(cause: ProcessEnd['cause'], reason: string): void {
		if (this.#end) return;
		this.#end = { cause, reason, stderr: this.#stderr.trim() };
		this.#stopMemoryTimer();
		for (const { reject } of [...this.#pending.values()]) reject(new ParseProcessEnded(this.#end));
		this.#resolveEnded(this.#end);
	}

	#stopMemoryTimer(): void {
		clearInterval(this.#memoryTimer);
		this.#memoryTimer = undefined;
	}

	#send(message: ToParseHost): void {
		// If it fails, the process has ended and its `close` event follows.
		if (this.#child.connected) this.#child.send(message, undefined, undefined, () => {});
	}
}
