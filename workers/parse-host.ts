import { writeFileSync } from 'node:fs';
import { Piscina } from 'piscina';
import { CpuBudgets, lowerProcessPriority, messageOf } from '../src/base/index.ts';
import type {
	FromParseHost,
	ParsedChunk,
	ParsedDocument,
	ParseJob,
	ToParseHost,
	WorkerResult,
} from '../src/contract/index.ts';

// The parsing process: a hostile document may end it without harm to the server.

/** The approximate number of characters of one message with chunks. */
const CHARS_PER_MESSAGE = 128 * 1024;
/** Idle threads end after this time; the server ends the process soon after. */
const IDLE_TIMEOUT_MS = 30_000;
/** The interval of checks of the documents' processor time (ms). */
const LOOK_MS = 100;
/** Makes Linux kill this process first when memory runs out, not the server or another program (-1000 to 1000). */
const OOM_SCORE = '800';

lowerProcessPriority();
raiseOomScore();
// Signals go to all processes of a terminal or a service. The server decides when this process ends, and kills it when it ends itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// A normal exit would wait for threads that parse.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

let threadPool: Piscina<ParseJob, WorkerResult<ParsedDocument>> | undefined;
let budgets: CpuBudgets<number> | undefined;
const running = new Map<number, AbortController>();
let look: NodeJS.Timeout | undefined;

process.on('message', (message: ToParseHost) => {
	if (message.type === 'start') {
		const { worker, threads, heapMb, cpuMs } = message;
		budgets = new CpuBudgets(cpuMs);
		threadPool = new Piscina({
			filename: worker.file,
			execArgv: worker.execArgv,
			// Otherwise Piscina assigns jobs to threads that have not started yet, and a job would fail if its thread cannot start.
			minThreads: 0,
			maxThreads: threads,
			idleTimeout: IDLE_TIMEOUT_MS,
			resourceLimits: { maxOldGenerationSizeMb: heapMb },
		});
		threadPool.on('error', (error) => send({ type: 'broken', reason: messageOf(error) }));
		send({ type: 'started' });
	} else if (message.type === 'parse') {
		void parse(message.id, message.job);
	} else {
		running.get(message.id)?.abort();
	}
});

async function parse(id: number, job: ParseJob): Promise<void> {
	const cancel = new AbortController();
	running.set(id, cancel);
	budgets?.begin(id);
	look ??= setInterval(endOverdrawn, LOOK_MS);
	try {
		if (!threadPool) throw new Error('A document came before the start.');
		const result = await threadPool.run(job, { signal: cancel.signal });
		if (!result.ok) {
			send({ type: 'answer', id, answer: result });
			return;
		}
		const { chunks, ...document } = result.value;
		for (const part of chunkBatches(chunks)) send({ type: 'chunks', id, chunks: part });
		send({ type: 'answer', id, answer: { ok: true, value: { ...document, chunks: [] } } });
	} catch (error) {
		if (cancel.signal.aborted) return;
		const { code } = error as { code?: unknown };
		send({ type: 'failure', id, code: typeof code === 'string' ? code : null, message: messageOf(error) });
	} finally {
		running.delete(id);
		budgets?.end(id);
		if (running.size === 0) {
			clearInterval(look);
			look = undefined;
		}
	}
}

/** Aborts the documents that have used up their processor time. */
function endOverdrawn(): void {
	for (const id of budgets?.overdrawn() ?? []) {
		send({ type: 'overtime', id });
		running.get(id)?.abort();
	}
}

function* chunkBatches(chunks: readonly ParsedChunk[]): Generator<ParsedChunk[]> {
	let batch: ParsedChunk[] = [];
	let characters = 0;
	for (const chunk of chunks) {
		batch.push(chunk);
		characters += chunk.text.length + chunk.title_terms.length + chunk.body_terms.length;
		if (characters < CHARS_PER_MESSAGE) continue;
		yield batch;
		batch = [];
		characters = 0;
	}
	if (batch.length > 0) yield batch;
}

function send(message: FromParseHost): void {
	// The callback ignores the error after the server has ended; `disconnect` follows.
	process.send?.(message, undefined, undefined, () => {});
}

function raiseOomScore(): void {
	if (process.platform !== 'linux') return;
	try {
		writeFileSync('/proc/self/oom_score_adj', OOM_SCORE);
	} catch {
		// Then Linux chooses by memory size alone.
	}
}
