import { join } from 'node:path';
import type { ApiClient } from '../load/deploy.ts';
import { jsonCaller } from '../load/json-caller.ts';
import { startLoadProcess } from '../load/load-process.ts';
import type { BaselineCommand, BaselineReady } from './process.ts';

/** The conventional server's process. */
export interface Baseline extends ApiClient, Disposable {
	readonly pid: number;
}

const START_TIMEOUT_MS = 60_000;
const KEY = 'the-only-key-of-the-baseline';

/**
 * Starts it with a new database.
 * @param folder for the database
 * @param modelPort of the scripted model; null if no message is sent
 * @param cpu the core to run on; absent: any
 */
export async function startBaseline(folder: string, modelPort: number | null, cpu?: number): Promise<Baseline> {
	const child = startLoadProcess<BaselineCommand, BaselineReady>(new URL('./process.ts', import.meta.url), cpu);
	const modelUrl = modelPort === null ? null : `http://127.0.0.1:${modelPort}/v1`;
	const { port } = await child.send({ file: join(folder, 'baseline.db'), key: KEY, modelUrl }, START_TIMEOUT_MS);
	return { pid: child.pid, ...jsonCaller(port, KEY), [Symbol.dispose]: () => child[Symbol.dispose]() };
}
