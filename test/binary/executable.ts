import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Program } from '../support/server-process.ts';

/** The one file, as `npm run build:binary` leaves it. */
export const executable = process.env.PARLEY_BINARY ?? fileURLToPath(new URL('../../.build/parley', import.meta.url));

/** Why these tests cannot run here; false where they can. */
export const skip =
	process.platform === 'linux'
		? !existsSync(executable) && 'skipped: run "npm run build:binary" first'
		: 'skipped: one file is built on Linux only';

/** It, unpacking into this folder. */
export function unpackingInto(cache: string): Program {
	return { command: executable, args: [], env: { PARLEY_CACHE_DIR: cache } };
}

export interface RunResult {
	code: number | null;
	signal: NodeJS.Signals | null;
	out: string;
	err: string;
}

/** Runs it to its end with this environment and nothing else. */
export function runExecutable(args: string[], env: Record<string, string>, cwd: string): Promise<RunResult> {
	return new Promise((resolve, reject) => {
		const child = spawn(executable, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
		const ran: RunResult = { code: null, signal: null, out: '', err: '' };
		child.stdout.on('data', (bytes: Buffer) => {
			ran.out += bytes.toString();
		});
		child.stderr.on('data', (bytes: Buffer) => {
			ran.err += bytes.toString();
		});
		child.on('error', reject);
		child.on('close', (code, signal) => resolve({ ...ran, code, signal }));
	});
}

export async function emptyFolder(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-binary-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}
