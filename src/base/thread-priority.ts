import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Of nice(1), lower than the others: beside one of these that has work to do, about a tenth of a core. */
const BACKGROUND = 10;
const LOWEST = 19;

/**
 * Lets this thread stand back behind the others: where processors are short, whoever waits for an answer goes before what is
 * done for later. To be called at the start of a worker thread, by what it runs. Only on Linux, where a thread has a priority
 * of its own; elsewhere, and where it is refused, nothing happens. Threads that this one starts take its priority over; Node's
 * common ones (files, garbage collection) have been started by the main thread long before.
 */
export function standBack(): void {
	if (process.platform !== 'linux') return;
	try {
		// `<process>/task/<thread>`; asked for in this very thread, so not with the asynchronous readlink.
		const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
		// 0 would be the whole process, and the main thread has its number: it never stands back.
		if (thread > 0 && thread !== process.pid) setPriority(thread, Math.min(LOWEST, getPriority() + BACKGROUND));
	} catch {
		// Without it all threads are equal, as elsewhere.
	}
}
