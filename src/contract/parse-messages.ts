import type { ParsedChunk, ParsedDocument, ParseJob, WorkerResult } from './worker-jobs.ts';

/** Messages from the server to the parsing process, as JSON over its IPC channel. `start` is sent first, and once. */
export type ToParseHost =
	| {
			type: 'start';
			/** The script that each thread runs, as a URL, and how Node must run it. */
			worker: { file: string; execArgv: string[] };
			threads: number;
			/** The heap of one thread (MB). */
			heapMb: number;
			/** Processor time limit of one document (ms). */
			cpuMs: number;
	  }
	| { type: 'parse'; id: number; job: ParseJob }
	/** Ends a job whose result is no longer needed. */
	| { type: 'cancel'; id: number };

/** Messages from the parsing process to the server. */
export type FromParseHost =
	/** The process accepts documents. Sent first, and once. */
	| { type: 'started' }
	/** A part of a document, in reading order. Parts keep each message short, so that reading them never blocks the server for long. */
	| { type: 'chunks'; id: number; chunks: ParsedChunk[] }
	/** The result, without the chunks, which were sent before. */
	| { type: 'answer'; id: number; answer: WorkerResult<ParsedDocument> }
	/** The document was given up because it reached the processor time limit. */
	| { type: 'overtime'; id: number }
	/** The job threw. */
	| { type: 'failure'; id: number; code: string | null; message: string }
	/** A thread failed outside of a job: the process must be replaced. */
	| { type: 'broken'; reason: string };
