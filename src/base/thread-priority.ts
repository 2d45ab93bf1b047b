import { readdirSync, readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Of nice(1), lower than the others: beside one of these that has work to do, about a tenth of a core. */
const BACKGROUND_NICE = 10;
/** Enough that a thread that has slept goes before one of these at once, instead of after some milliseconds. */
const RUNTIME_THREADS_NICE = 4;
const MAX_NICE = 19;

/**
 * Lets this thread stand back behind the others: where processors are short, whoever waits for an answer goes before what is
 * done for later. To be called at the start of a worker thread, by what it runs. Only on Linux, where a thread has a priority
 * of its own; elsewhere, and where it is refused, nothing happens. Threads that this one starts take its priority over; Node's
 * common ones (files, garbage collection) have been started by the main thread long before.
 */
export function lowerThreadPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		// `<process>/task/<thread>`; asked for in this very thread, so not with the asynchronous readlink.
		const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
		// 0 would be the whole process, and the main thread has its number: it never stands back.
		if (thread > 0 && thread !== process.pid) setPriority(thread, Math.min(MAX_NICE, getPriority() + BACKGROUND_NICE));
	} catch {
		// Without it all threads are equal, as elsewhere.
	}
}

/**
 * Lets the threads that Node keeps for all others (collecting garbage, compiling, files) stand a little behind: what they do for
 * threads that have stood back would else be done before what somebody waits for. To be called by the main thread before it
 * starts threads of its own. Only on Linux, as `lowerThreadPriority`.
 */
export function lowerRuntimeThreadsPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		const threads = readdirSync('/proc/self/task').map(Number);
		// Where the numbers are those of another container, they would name the threads of others.
		if (!threads.includes(process.pid)) return;
		const priority = Math.min(MAX_NICE, getPriority() + RUNTIME_THREADS_NICE);
		for (const thread of threads) if (thread !== process.pid) raiseNiceTo(thread, priority);
	} catch {
		// Without it all threads are equal, as elsewhere.
	}
}

/**
 * Lets this whole process go behind the others, those of its threads that Node has started already included; threads that are
 * started later inherit it. Only on Linux, as `lowerThreadPriority`.
 */
export function lowerProcessPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		const priority = Math.min(MAX_NICE, getPriority() + BACKGROUND_NICE);
		for (const thread of readdirSync('/proc/self/task')) raiseNiceTo(Number(thread), priority);
	} catch {
		// Without it all processes are equal, as elsewhere.
	}
}

function raiseNiceTo(thread: number, priority: number): void {
	try {
		if (getPriority(thread) < priority) setPriority(thread, priority);
	} catch {
		// It has ended meanwhile, or it is refused.
	}
}
