// Ends test processes that hang, so that a run fails and names the test file instead of never ending.
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { say, UserError } from './project.mjs';

/** In milliseconds. The time in which the machine sleeps does not count. */
export const DEADLINES = {
	/** For one test file: many times what the longest takes on a busy machine. `npm run test:long` sets another. */
	file: Number(process.env.FILE_MINUTES ?? 15) * 60_000,
	/** For the exit of a process after its last file, and for the end of the run after its last process. */
	exit: 60_000,
	/** For a process to print what keeps it alive. */
	report: 5_000,
	/** Between two checks. */
	interval: 5_000,
};

/** Options of node's test runner with which a process pauses, or does more than one group. */
const UNWATCHED = /^--(inspect|watch|(experimental-)?test-isolation)/;

/**
 * Watches the processes of a run by their state files, which `bundleTests` describes. A process that hangs gets SIGUSR2, which makes it
 * print what keeps it alive and exit with 1. If it does not exit, it gets SIGKILL.
 * @param options of node's test runner; with some, nothing is watched
 * @returns a function that ends the watch, and a signal that aborts when all processes have exited but the run does not end: something
 *   that they started holds their output
 */
export function watchGroups(stateFiles, { options = [], deadlines = DEADLINES } = {}) {
	const abort = new AbortController();
	if (options.some((option) => UNWATCHED.test(option))) return { aborted: abort.signal, stop() {} };
	const groups = stateFiles.map((stateFile) => new WatchedGroup(stateFile, deadlines));
	let waitedMs = 0;
	const timer = setInterval(() => {
		for (const group of groups) group.check();
		if (groups.some(({ hasExited }) => !hasExited)) return;
		waitedMs += deadlines.interval;
		if (waitedMs > deadlines.exit) {
			abort.abort(new UserError('All test processes have exited, but a process that they started holds their output.'));
		}
	}, deadlines.interval);
	return { aborted: abort.signal, stop: () => clearInterval(timer) };
}

/** The process of a group of test files. */
class WatchedGroup {
	hasExited = false;
	#stateFile;
	#deadlines;
	#state = '';
	/** Since the state changed, or since SIGUSR2. */
	#waitedMs = 0;
	#isSignalled = false;

	constructor(stateFile, deadlines) {
		this.#stateFile = stateFile;
		this.#deadlines = deadlines;
	}

	check() {
		const text = this.hasExited ? null : readState(this.#stateFile);
		if (text === null) return;
		const { pid, file, hasEnded } = JSON.parse(text);
		if (!isRunning(pid, this.#stateFile)) {
			this.hasExited = true;
			return;
		}
		this.#waitedMs = text === this.#state ? this.#waitedMs + this.#deadlines.interval : 0;
		this.#state = text;
		if (this.#isSignalled) {
			if (this.#waitedMs > this.#deadlines.report) signal(pid, 'SIGKILL');
		} else if (this.#waitedMs > (hasEnded ? this.#deadlines.exit : this.#deadlines.file)) {
			const seconds = Math.round(this.#waitedMs / 1000);
			if (hasEnded) say(`The process of ${file} has not exited ${seconds} s after this last file. It is ended.`);
			else say(`${file} has not ended after ${seconds} s. Its process is ended.`);
			signal(pid, 'SIGUSR2');
			this.#isSignalled = true;
			this.#waitedMs = 0;
		}
	}
}

/** What a process is doing, as JSON; null while it has not begun. */
function readState(stateFile) {
	try {
		return readFileSync(stateFile, 'utf8') || null;
	} catch (error) {
		if (error.code !== 'ENOENT') throw error;
		return null;
	}
}

/** Whether the process runs. Another process may have its number by now. */
function isRunning(pid, stateFile) {
	if (!existsSync('/proc/self')) return signal(pid, 0);
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dirname(stateFile));
	} catch {
		return false;
	}
}

/** @param name 0: sends none. @returns whether this user has such a process */
function signal(pid, name) {
	try {
		process.kill(pid, name);
		return true;
	} catch (error) {
		if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error;
		return false;
	}
}
