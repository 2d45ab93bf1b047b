import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { program } from './server-process.ts';

/** The end of a command: its exit code and what it wrote. */
export interface CommandResult {
	code: number | null;
	out: string;
	err: string;
}

/** Runs a command of the built server to its end, on a data folder. */
export function runProgram(
	dataDir: string,
	args: readonly string[],
	env: Record<string, string> = {},
): Promise<CommandResult> {
	return new Promise((resolve, reject) => {
		const { PATH, HOME } = process.env;
		const child = spawn(program.command, [...program.args, ...args], {
			cwd: tmpdir(),
			env: { PATH, HOME, PARLEY_DATA_DIR: dataDir, ...program.env, ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
			timeout: 120_000,
		});
		const result: CommandResult = { code: null, out: '', err: '' };
		child.stdout.on('data', (bytes: Buffer) => {
			result.out += bytes.toString();
		});
		child.stderr.on('data', (bytes: Buffer) => {
			result.err += bytes.toString();
		});
		child.on('error', reject);
		child.on('close', (code) => resolve({ ...result, code }));
	});
}

/** A temporary folder that is removed after the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Sends a signal to a program, and waits until it has ended. Does nothing when it never started or has ended. */
export async function endProgram(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
	const closed = once(child, 'close');
	child.kill(signal);
	await closed;
}
