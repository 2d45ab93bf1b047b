// Ends test processes that hang, so that a run fails and names the test file instead of never ending.
import { readFileSync } from 'node:fs';
import { say, UserError } from './project.mjs';

/** In milliseconds. */
export const DEADLINES = {
	/** For one test file: many times what the longest takes on a busy machine. */
	file: 15 * 60_000,
	/** For the exit of a process after its last file, and for the end of the run after its last process. */
	exit: 60_000,
	/** For a process to print what keeps it alive. */
	report: 5_000,
	/** Between two looks. */
	interval: 5_000,
};

/**
 * Watches the processes of a run by their state files, which `bundleTests` describes. A process that hangs gets SIGUSR2, which makes it
 * print what keeps it alive and exit with 1. If it does not exit, it gets SIGKILL.
 * @returns a function that ends the watch, and a signal that aborts when all processes have exited but the run does not end: something
 *   that they started holds their output
 */
export function watchGroups(stateFiles, deadlines = DEADLINES) {
	const abort = new AbortController();
	const watched = stateFiles.map((stateFile) => ({ stateFile, exited: false, signalledAt: null }));
	let allExitedAt = null;
	const look = () => {
		for (const each of watched) lookAt(each, deadlines);
		if (watched.some(({ exited }) => !exited)) return;
		allExitedAt ??= Date.now();
		if (Date.now() - allExitedAt > deadlines.exit) {
			abort.abort(new UserError('All test processes have exited, but a process that they started holds their output.'));
		}
	};
	const timer = setInterval(look, deadlines.interval);
	return { aborted: abort.signal, stop: () => clearInterval(timer) };
}

function lookAt(each, deadlines) {
	const state = each.exited ? null : readState(each.stateFile);
	if (state === null) return;
	if (!signal(state.pid, 0)) {
		each.exited = true;
	} else if (each.signalledAt !== null) {
		if (Date.now() - each.signalledAt > deadlines.report) signal(state.pid, 'SIGKILL');
	} else if (Date.now() - state.since > (state.file === null ? deadlines.exit : deadlines.file)) {
		each.signalledAt = Date.now();
		const seconds = Math.round((Date.now() - state.since) / 1000);
		if (state.file === null) say(`A test process still runs ${seconds} s after its last file. It is ended.`);
		else say(`${state.file} has not ended after ${seconds} s. Its process is ended.`);
		signal(state.pid, 'SIGUSR2');
	}
}

/** What a process is doing; null while it has not begun. */
function readState(stateFile) {
	try {
		return JSON.parse(readFileSync(stateFile, 'utf8'));
	} catch {
		// Not there yet, or being written.
		return null;
	}
}

/** @param name 0: sends none. @returns whether the process exists */
function signal(pid, name) {
	try {
		process.kill(pid, name);
		return true;
	} catch (error) {
		if (error.code !== 'ESRCH') throw error;
		return false;
	}
}
