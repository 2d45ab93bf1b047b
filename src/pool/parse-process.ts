// biome-ignore lint/style/noRestrictedImports: it starts this same program once more, to parse documents and nothing else.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
	/** What the process runs, and what each of its threads runs. */
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

/** How a process ended. */
export interface ProcessEnd {
	/** `start`: it never ran its own code. `threads`: it ran, but could not start or keep its threads. `memory`: killed for its size. */
	cause: 'start' | 'threads' | 'memory' | 'crash' | 'closed';
	/** For the log. */
	reason: string;
	/** What it wrote last to standard error, such as V8's last words. */
	stderr: string;
}

/** The process ended before the document was parsed. Whether the document is why is not known. */
export class ParseProcessEnded extends Error {
	override readonly name = 'ParseProcessEnded';
	readonly end: ProcessEnd;

	constructor(end: ProcessEnd) {
		super(`The process that parses ended: ${end.reason}`);
		this.end = end;
	}
}

/** The document was given up because it has taken the processor time that one may take. */
export class ParseOvertime extends Error {
	override readonly name = 'ParseOvertime';
}

interface PendingParse {
	chunks: ParsedChunk[];
	resolve(answer: WorkerResult<ParsedDocument>): void;
	reject(reason: unknown): void;
}

/** How often the process's memory is looked at while it has work (ms). */
const MEMORY_CHECK_MS = 100;
/** So much of its standard error is kept (characters). */
const MAX_STDERR_CHARS = 2_000;
/** The argument that makes the one file run the process that parses, from the folder that follows it. */
const HOST_ARGUMENT = '--parse-host';

/**
 * The process in which documents are parsed, from its start to its end. It inherits nothing: an environment of its own, no
 * descriptor but the IPC channel and standard error. It ends with the server.
 */
export class ParseProcess {
	/** Resolves when the process has ended; never rejects. */
	readonly ended: Promise<ProcessEnd>;
	readonly #child: ChildProcess;
	readonly #rssMb: number;
	readonly #pending = new Map<number, PendingParse>();
	#resolveEnded!: (end: ProcessEnd) => void;
	/** Set when the server kills it: the reason that counts. */
	#killReason: Pick<ProcessEnd, 'cause' | 'reason'> | undefined;
	#end: ProcessEnd | undefined;
	/** Whether it has reached its own code. A process that ends before that has seen no document. */
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
				// The one file takes no options of Node's among its arguments.
				env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` },
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
		// Without its channel it can do nothing more.
		child.on('disconnect', () => child.kill('SIGKILL'));
		child.stderr?.on('error', () => {});
		child.stderr?.on('data', (bytes: Buffer) => {
			this.#stderr = (this.#stderr + bytes.toString()).slice(-MAX_STDERR_CHARS);
		});
		// An idle process does not keep the server running; while there is work, the watch does.
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

	/** Whether it takes documents: it has not ended, and is not about to. */
	get isUsable(): boolean {
		return this.#end === undefined && this.#killReason === undefined;
	}

	/** Whether it has parsed anything yet. */
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

	/** Ends it at once. It has no state that could be lost. */
	close(): void {
		this.#kill({ cause: 'closed', reason: 'it was not needed any more' });
	}

	/** A pipe; undefined where the process could not be started. */
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
		// Called off meanwhile.
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
		// Its end is waited for.
		this.#child.ref();
		this.#stderrHandle?.ref();
		this.#child.kill('SIGKILL');
	}

	/** `error` tells that it could not be started, or not be killed; what cannot be sent comes to the callback of `send`. */
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
		// Where it fails, the process is about to be seen to have ended.
		if (this.#child.connected) this.#child.send(message, undefined, undefined, () => {});
	}
}
