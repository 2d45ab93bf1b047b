import { readdirSync, readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** A nice(1) value for background threads. Beside a busy thread of normal priority one gets about a tenth of a core. */
const BACKGROUND_NICE = 10;
/** Enough for a waking thread to run before one of these at once, instead of after some milliseconds. */
const RUNTIME_THREADS_NICE = 4;
const MAX_NICE = 19;

/**
 * Lowers the priority of this thread, so that requests go before background work on a busy machine. A worker thread calls it
 * at its start. Only on Linux, where each thread has its own priority; elsewhere, or without permission, it does nothing.
 * Threads that this one starts inherit its priority; Node's shared threads (files, garbage collection) were started by the main
 * thread before.
 */
export function lowerThreadPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		// `<process>/task/<thread>`. The asynchronous readlink would run in another thread.
		const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
		// 0 would be the whole process, and the process id is the main thread, which keeps its priority.
		if (thread > 0 && thread !== process.pid) setPriority(thread, Math.min(MAX_NICE, getPriority() + BACKGROUND_NICE));
	} catch {
		// Without permission all threads keep the same priority.
	}
}

/**
 * Lowers the priority of Node's shared threads (garbage collection, compilation, files) a little. Otherwise their work for
 * background threads would go before requests. The main thread calls it before it starts other threads. Only on Linux, as
 * `lowerThreadPriority`.
 */
export function lowerRuntimeThreadsPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		const threads = readdirSync('/proc/self/task').map(Number);
		// Numbers of another container would name threads of other processes.
		if (!threads.includes(process.pid)) return;
		const priority = Math.min(MAX_NICE, getPriority() + RUNTIME_THREADS_NICE);
		for (const thread of threads) if (thread !== process.pid) raiseNiceTo(thread, priority);
	} catch {
		// Without permission all threads keep the same priority.
	}
}

/**
 * Lowers the priority of this whole process, including the threads that Node has started already. Later threads inherit it.
 * Only on Linux, as `lowerThreadPriority`.
 */
export function lowerProcessPriority(): void {
	if (process.platform !== 'linux') return;
	try {
		const priority = Math.min(MAX_NICE, getPriority() + BACKGROUND_NICE);
		for (const thread of readdirSync('/proc/self/task')) raiseNiceTo(Number(thread), priority);
	} catch {
		// Without permission all processes keep the same priority.
	}
}

function raiseNiceTo(thread: number, priority: number): void {
	try {
		if (getPriority(thread) < priority) setPriority(thread, priority);
	} catch {
		// The thread has ended meanwhile, or the permission is missing.
	}
}
