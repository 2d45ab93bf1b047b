import { writeFileSync } from 'node:fs';
import { Piscina } from 'piscina';
import { CpuBudgets, lowerProcessPriority, messageOf } from '../src/base/index.ts';
import type {
	FromParseHost,
	ParsedChunk,
	ParsedDocument,
	ParseJob,
	ToParseHost,
	WorkerAnswer,
} from '../src/contract/index.ts';

// A process of its own, in which documents are parsed: a hostile one may end it, and the server lives.

/** Chunks are sent in parts of about so many characters. */
const PART = 128 * 1024;
/** Idle threads end after this time; the server ends the whole process soon after. */
const IDLE_MS = 30_000;
/** How often the processor time of documents is looked at while there are any (ms). */
const LOOK_MS = 100;
/** Where memory runs out, Linux is to end this process rather than the server or another program (-1000 to 1000). */
const OOM_SCORE = '800';

lowerProcessPriority();
goFirstWhenMemoryRunsOut();
// Signals go to all processes of a terminal or a service. The server decides when this one ends, and takes it with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// An orderly exit would wait for threads that parse.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

let pool: Piscina<ParseJob, WorkerAnswer<ParsedDocument>> | undefined;
let budgets: CpuBudgets<number> | undefined;
const running = new Map<number, AbortController>();
let look: NodeJS.Timeout | undefined;

process.on('message', (message: ToParseHost) => {
	if (message.type === 'start') {
		const { worker, threads, heapMb, cpuMs } = message;
		budgets = new CpuBudgets(cpuMs);
		pool = new Piscina({
			filename: worker.file,
			execArgv: worker.execArgv,
			// Otherwise Piscina gives jobs to threads that have not started yet: where they cannot start, the job would fail.
			minThreads: 0,
			maxThreads: threads,
			idleTimeout: IDLE_MS,
			resourceLimits: { maxOldGenerationSizeMb: heapMb },
		});
		pool.on('error', (error) => send({ type: 'broken', reason: messageOf(error) }));
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
		if (!pool) throw new Error('A document came before the start.');
		const answer = await pool.run(job, { signal: cancel.signal });
		if (!answer.ok) {
			send({ type: 'answer', id, answer });
			return;
		}
		const { chunks, ...document } = answer.value;
		for (const part of parts(chunks)) send({ type: 'chunks', id, chunks: part });
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

/** Ends the documents that have taken more processor time than they may. */
function endOverdrawn(): void {
	for (const id of budgets?.overdrawn() ?? []) {
		send({ type: 'overtime', id });
		running.get(id)?.abort();
	}
}

function* parts(chunks: readonly ParsedChunk[]): Generator<ParsedChunk[]> {
	let part: ParsedChunk[] = [];
	let characters = 0;
	for (const chunk of chunks) {
		part.push(chunk);
		characters += chunk.text.length + chunk.title_terms.length + chunk.body_terms.length;
		if (characters < PART) continue;
		yield part;
		part = [];
		characters = 0;
	}
	if (part.length > 0) yield part;
}

function send(message: FromParseHost): void {
	// The callback takes the error of a server that has just ended; `disconnect` follows.
	process.send?.(message, undefined, undefined, () => {});
}

function goFirstWhenMemoryRunsOut(): void {
	if (process.platform !== 'linux') return;
	try {
		writeFileSync('/proc/self/oom_score_adj', OOM_SCORE);
	} catch {
		// Without it Linux chooses by size alone.
	}
}
