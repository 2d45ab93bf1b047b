// Functions that all scripts share. Built-in modules only: these scripts run before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	accessSync,
	constants,
	mkdirSync,
	readdirSync,
	readFileSync,
	realpathSync,
	renameSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's top folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** A failure whose message says what to do. It is shown without a stack. */
export class UserError extends Error {}

/** Prints what a script is doing. */
export function say(sentence) {
	process.stdout.write(`parley: ${sentence}\n`);
}

/** Whether the module at `url` is the entry point of the process and not imported by another script. */
export function isEntry(url) {
	const entry = process.argv[1];
	return entry !== undefined && realpathSync(entry) === realpathSync(fileURLToPath(url));
}

/** Runs a script's main function. A UserError is printed as one sentence with exit code 1. */
export async function main(body) {
	try {
		process.exitCode = (await body()) ?? 0;
	} catch (error) {
		if (!(error instanceof UserError)) throw error;
		process.stderr.write(`\nparley: ${error.message}\n`);
		process.exitCode = 1;
	}
}

/**
 * Runs a command, by default in the project folder, and resolves with its exit code. Its output is printed. With `capture` the output is
 * also collected, with `quiet` it is only collected. When `signal` aborts, the command gets SIGTERM, and the reason is thrown.
 */
export function run(command, args, { env = {}, cwd = root, capture = false, quiet = false, signal } = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, {
			cwd,
			env: { ...process.env, ...env },
			stdio: ['ignore', capture || quiet ? 'pipe' : 'inherit', capture || quiet ? 'pipe' : 'inherit'],
			signal,
		});
		let output = '';
		for (const [from, to] of [
			[child.stdout, process.stdout],
			[child.stderr, process.stderr],
		]) {
			from?.on('data', (bytes) => {
				output += bytes;
				if (!quiet) to.write(bytes);
			});
		}
		const forward = (signal) => child.kill(signal);
		process.once('SIGTERM', forward);
		child.on('error', (error) => {
			process.off('SIGTERM', forward);
			reject(signal?.aborted ? signal.reason : error);
		});
		child.on('close', (code, signal) => {
			process.off('SIGTERM', forward);
			resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 143), output });
		});
	});
}

/** The path of the first of `names` that is executable on PATH; null if there is none. */
export function findProgram(...names) {
	for (const name of names) {
		for (const folder of (process.env.PATH ?? '').split(delimiter)) {
			const path = join(folder, name);
			try {
				accessSync(path, constants.X_OK);
				if (statSync(path).isFile()) return path;
			} catch {}
		}
	}
	return null;
}

/** All accepted files below a folder of the project, sorted, as paths relative to the project. */
export function filesBelow(folder, accept = () => true) {
	let entries;
	try {
		entries = readdirSync(join(root, folder), { withFileTypes: true });
	} catch (error) {
		if (error.code === 'ENOENT') return [];
		throw error;
	}
	const found = [];
	for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const path = `${folder}/${entry.name}`;
		if (entry.isDirectory()) found.push(...filesBelow(path, accept));
		else if (accept(path)) found.push(path);
	}
	return found;
}

/** A SHA-256 over the names and contents of files, and over further strings. */
export function fingerprint(files, ...more) {
	const hash = createHash('sha256');
	for (const file of files) {
		const bytes = readFileSync(join(root, file));
		hash.update(`${file}\0${bytes.length}\0`).update(bytes);
	}
	for (const text of more) hash.update(`\0${text}`);
	return hash.digest('hex');
}

/** Writes a file atomically, because another script may be reading it. */
export function put(path, text) {
	// In a folder that no other tool reads: a check that runs at the same time would see a partial file beside the sources.
	const folder = join(root, '.build', 'partial');
	mkdirSync(folder, { recursive: true });
	const partial = join(folder, `${process.pid}-${path.replaceAll('/', '-')}`);
	writeFileSync(partial, text);
	renameSync(partial, join(root, path));
}
