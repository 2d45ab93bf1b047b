import { parentPort, workerData } from 'node:worker_threads';
import { runWriterThread, type WriterThreadData } from '../src/store/sqlite/index.ts';

/** The writer thread: owns the only writing connection for as long as the process lives. */
if (!parentPort) throw new Error('workers/store runs as a thread of the server.');
await runWriterThread(parentPort, workerData as WriterThreadData);
