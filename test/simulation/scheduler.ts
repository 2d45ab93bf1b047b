import { createHash } from 'node:crypto';
import type { Random } from '../support/random.ts';

/** Those whose work ends with them: a process of the simulated server. */
export interface Owner {
	isAlive: boolean;
	/** Its work waits until it wakes, and is late then. */
	isFrozen?: boolean;
	/** How far its wall clock is ahead (ms). */
	readonly clockOffsetMs?: number;
	/** Its code runs from now on. */
	onEnter?(): void;
}

/** Work that is due at a point of virtual time. */
export interface ScheduledTask {
	/** Milliseconds since the start of the simulation. */
	at: number;
	/** Decides between tasks of the same time. */
	order: number;
	/** Null: the work of a client, or of the simulation itself. */
	readonly owner: Owner | null;
	readonly label: string;
	readonly run: () => void;
	isCancelled: boolean;
}

export interface TaskOptions {
	label: string;
	delayMs: number;
	owner: Owner | null;
	/** Tasks of one channel run in the order in which they were scheduled. */
	channel?: string;
	run: () => void;
}

/** Nothing may take longer in virtual time: the wall clock at the start. */
export const START = Date.UTC(2026, 0, 5, 9);
const CHANNEL_STEP_MS = 1e-6;

// Taken before the platform is replaced.
const yieldToPlatform = setImmediate;

/**
 * Runs work in the order of virtual time. Tasks that are due at about the same time run in an order that the seed decides. Promises
 * are deterministic by themselves: after each task, all of their callbacks run.
 */
export class Scheduler {
	readonly random: Random;
	/** The process to which the timers of the code that runs now belong. */
	currentOwner: Owner | null = null;
	/** Whether the code of several processes runs: each task runs as its owner. Otherwise all timers belong to the one process. */
	hasSeveralProcesses = false;
	/** Receives each line of the trace. */
	onTrace: (line: string) => void = () => {};
	readonly #heap: ScheduledTask[] = [];
	/** The tasks that were due while their owner was frozen, in their order. */
	readonly #parked = new Map<Owner, ScheduledTask[]>();
	readonly #lastOfChannel = new Map<string, number>();
	readonly #digest = createHash('sha256');
	#time = 0;
	#scheduled = 0;
	#steps = 0;

	constructor(random: Random) {
		this.random = random;
	}

	/** Milliseconds since the start. */
	get time(): number {
		return this.#time;
	}

	/** Milliseconds since the epoch, as `Date.now()` returns them. */
	get wallClock(): number {
		return START + Math.floor(this.#time);
	}

	/** The wall clock of the process whose code runs. */
	get processClock(): number {
		return this.wallClock + (this.currentOwner?.clockOffsetMs ?? 0);
	}

	get steps(): number {
		return this.#steps;
	}

	/** Lets time pass at once, as for a machine that was suspended. */
	skip(ms: number): void {
		this.#time += ms;
	}

	/** The code that runs until the end of this step is that of a process. Without several processes it changes nothing. */
	enter(owner: Owner | null): void {
		if (!this.hasSeveralProcesses) return;
		this.currentOwner = owner;
		owner?.onEnter?.();
	}

	/** A frozen process goes on. Sockets may be read before its late timers run, or after that. */
	wake(owner: Owner): void {
		owner.isFrozen = false;
		const parked = this.#parked.get(owner) ?? [];
		this.#parked.delete(owner);
		const areTimersFirst = this.random.chance(0.5);
		const isTimer = ({ label }: ScheduledTask) => label === '' || label.startsWith('timeout');
		const [timers, others] = [parked.filter(isTimer), parked.filter((task) => !isTimer(task))];
		for (const task of areTimersFirst ? [...timers, ...others] : [...others, ...timers]) {
			task.at = this.#time;
			task.order = this.#scheduled++;
			this.#push(task);
		}
	}

	/** Adds a line to the trace. Two runs of one seed have the same lines. */
	trace(line: string): void {
		const text = `${this.#time.toFixed(3)} ${line}`;
		this.#digest.update(text);
		this.onTrace(text);
	}

	/** The hash of all lines of the trace. */
	traceHash(): string {
		return this.#digest.copy().digest('hex');
	}

	schedule({ label, delayMs, owner, channel, run }: TaskOptions): ScheduledTask {
		let at = this.#time + delayMs;
		if (channel !== undefined) {
			at = Math.max(at, (this.#lastOfChannel.get(channel) ?? 0) + CHANNEL_STEP_MS);
			this.#lastOfChannel.set(channel, at);
		}
		const task: ScheduledTask = { at, order: this.#scheduled++, owner, label, run, isCancelled: false };
		this.#push(task);
		return task;
	}

	/** Runs the next task. Returns false where none is left. */
	async step(): Promise<boolean> {
		for (;;) {
			const task = this.#pop();
			if (task === undefined) return false;
			if (task.isCancelled || task.owner?.isAlive === false) continue;
			if (task.owner?.isFrozen) {
				this.#park(task, task.owner);
				continue;
			}
			this.#time = Math.max(this.#time, task.at);
			this.#steps++;
			if (task.label !== '') this.trace(task.label);
			this.enter(task.owner);
			task.run();
			await settled();
			return true;
		}
	}

	#park(task: ScheduledTask, owner: Owner): void {
		const parked = this.#parked.get(owner) ?? [];
		this.#parked.set(owner, parked);
		parked.push(task);
	}

	#push(task: ScheduledTask): void {
		const heap = this.#heap;
		let at = heap.push(task) - 1;
		while (at > 0) {
			const parent = (at - 1) >> 1;
			if (!isBefore(task, heap[parent] as ScheduledTask)) break;
			heap[at] = heap[parent] as ScheduledTask;
			at = parent;
		}
		heap[at] = task;
	}

	#pop(): ScheduledTask | undefined {
		const heap = this.#heap;
		const first = heap[0];
		const last = heap.pop();
		if (first === undefined || last === undefined || heap.length === 0) return first;
		let at = 0;
		for (;;) {
			let child = 2 * at + 1;
			if (child >= heap.length) break;
			if (child + 1 < heap.length && isBefore(heap[child + 1] as ScheduledTask, heap[child] as ScheduledTask)) child++;
			if (!isBefore(heap[child] as ScheduledTask, last)) break;
			heap[at] = heap[child] as ScheduledTask;
			at = child;
		}
		heap[at] = last;
		return first;
	}
}

function isBefore(one: ScheduledTask, other: ScheduledTask): boolean {
	return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** All callbacks of promises have run. */
export function settled(): Promise<void> {
	return new Promise((resolve) => yieldToPlatform(resolve));
}
