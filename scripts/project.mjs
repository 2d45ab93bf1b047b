// What every script shares: where the project is, how a command is run, how a failure is told.
// Built-in modules only: these scripts run before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	accessSync,
	constants,
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

/** A failure whose sentence tells the remedy; shown without a stack. */
export class UserError extends Error {}

/** Says what a script is doing. */
export function say(sentence) {
	process.stdout.write(`parley: ${sentence}\n`);
}

/** Whether the module at `url` is what node was asked to run, rather than imported by another script. */
export function isEntry(url) {
	const entry = process.argv[1];
	return entry !== undefined && realpathSync(entry) === realpathSync(fileURLToPath(url));
}

/** Runs a script's main function; a Remedy becomes one sentence and exit code 1. */
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
 * Runs a command, in the project folder unless told another, and resolves with its exit code. Output goes through as it comes; with
 * `capture` it is collected as well (or, with `quiet`, instead).
 */
export function run(command, args, { env = {}, cwd = root, capture = false, quiet = false } = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, {
			cwd,
			env: { ...process.env, ...env },
			stdio: ['ignore', capture || quiet ? 'pipe' : 'inherit', capture || quiet ? 'pipe' : 'inherit'],
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
			reject(error);
		});
		child.on('close', (code, signal) => {
			process.off('SIGTERM', forward);
			resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 143), output });
		});
	});
}

/** The path of the first of `names` that is on PATH and may be run; null where none is. */
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

/** All files below a folder of the project for which `accept` is true, sorted, as paths relative to the project. */
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

/** One SHA-256 over the names and contents of files, and over further strings that matter. */
export function fingerprint(files, ...more) {
	const hash = createHash('sha256');
	for (const file of files) {
		const bytes = readFileSync(join(root, file));
		hash.update(`${file}\0${bytes.length}\0`).update(bytes);
	}
	for (const text of more) hash.update(`\0${text}`);
	return hash.digest('hex');
}

/** Puts a file in place whole: another script may be reading it. */
export function put(path, text) {
	const partial = join(root, `${path}.${process.pid}.tmp`);
	writeFileSync(partial, text);
	renameSync(partial, join(root, path));
}
