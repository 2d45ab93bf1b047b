import type { ParsedChunk, ParsedDocument, ParseJob, WorkerResult } from './worker-jobs.ts';

/** What the server sends to the process that parses, as JSON over its IPC channel. `start` comes first, and once. */
export type ToParseHost =
	| {
			type: 'start';
			/** The script that each thread runs, as a URL, and how Node must run it. */
			worker: { file: string; execArgv: string[] };
			threads: number;
			/** The heap of one thread (MB). */
			heapMb: number;
			/** The processor time that one document may take (ms). */
			cpuMs: number;
	  }
	| { type: 'parse'; id: number; job: ParseJob }
	/** Ends a job whose answer is not waited for any more. */
	| { type: 'cancel'; id: number };

/** What the process that parses answers. */
export type FromParseHost =
	/** It runs and takes documents. Sent once, before anything else. */
	| { type: 'started' }
	/** A part of a document, in reading order. Parts keep each message short, so that reading them never blocks the server for long. */
	| { type: 'chunks'; id: number; chunks: ParsedChunk[] }
	/** The answer, without the chunks: those came before. */
	| { type: 'answer'; id: number; answer: WorkerResult<ParsedDocument> }
	/** The document was given up: it has taken the processor time that one may take. */
	| { type: 'overtime'; id: number }
	/** The job threw. */
	| { type: 'failure'; id: number; code: string | null; message: string }
	/** Its threads failed outside of any job: it has to be replaced. */
	| { type: 'broken'; reason: string };
