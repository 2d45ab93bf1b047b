import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** A data folder on which a test starts one server process after another. It is removed after the test. */
export interface RestartableServer {
	dataDir: string;
	/** Starts a process. Each uses the key of the first. */
	start(): Promise<ServerProcess>;
}

export async function createRestartableServer(
	t: TestContext,
	env: Record<string, string> = {},
): Promise<RestartableServer> {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-killed-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	let key: string | undefined;
	return {
		dataDir,
		async start() {
			const server = await startServer({ dataDir, env, ...(key === undefined ? {} : { key }) });
			key = server.key;
			return server;
		},
	};
}
