// biome-ignore lint/style/noRestrictedImports: it starts this same program again, only to make a backup.
import { spawn } from 'node:child_process';
import { isSea } from 'node:sea';
import { deferred } from '../base/index.ts';

/** How long a stopped process may take to remove its files. */
const STOP_MS = 5_000;
/** The part of its output that is kept (characters). */
const MAX_OUTPUT_CHARS = 4_000;

/** The command and first arguments that start this program again. */
export function thisProgram(): string[] {
	return isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
}

/**
 * Runs `parley backup` as a process with the settings of this one. A process and not a thread: copying and checking a large database takes
 * minutes within SQLite, in which a thread can neither be stopped nor leave the server's memory alone.
 * @param folder the folder of the backups; it is made if it is missing
 * @returns what it printed
 * @throws Error with its sentence when it fails; the signal's reason, ten seconds after its abort at the latest
 */
export async function runBackupProcess(
	folder: string,
	keep: number,
	signal: AbortSignal,
	[command = '', ...args] = thisProgram(),
): Promise<string> {
	signal.throwIfAborted();
	const child = spawn(command, [...args, 'backup', `${folder}/`, '--keep', String(keep)], {
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let output = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (bytes: Buffer) => {
			output = (output + bytes.toString()).slice(-MAX_OUTPUT_CHARS);
		});
	}
	let killTimer: NodeJS.Timeout | undefined;
	const killed = deferred<never>();
	const kill = () => {
		child.kill('SIGKILL');
		// A process that waits for a disk that does not answer cannot be ended, and must not hold the server.
		killTimer = setTimeout(() => killed.reject(signal.reason), STOP_MS);
	};
	const stop = () => {
		child.kill('SIGTERM');
		killTimer = setTimeout(kill, STOP_MS);
	};
	signal.addEventListener('abort', stop, { once: true });
	try {
		const ended = new Promise<string>((resolve, reject) => {
			child.on('error', reject);
			child.on('close', (code, killedBy) => resolve(killedBy ?? String(code)));
		});
		const end = await Promise.race([ended, killed.promise]);
		signal.throwIfAborted();
		if (end !== '0') throw new Error(sentenceOf(output) || `The process of the backup ended with ${end}.`);
		return output.trim();
	} finally {
		clearTimeout(killTimer);
		signal.removeEventListener('abort', stop);
		child.stdout.destroy();
		child.stderr.destroy();
		child.unref();
	}
}

/** The error in the output of a command, without the name of the program. */
function sentenceOf(output: string): string {
	return output.trim().replace(/^parley: /m, '');
}
