import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Owner, ScheduledTask, Scheduler } from './scheduler.ts';

/** A timer of the virtual platform, with the methods of `NodeJS.Timeout` that the server calls. */
class VirtualTimer {
	task: ScheduledTask | null = null;

	ref(): this {
		return this;
	}

	unref(): this {
		return this;
	}
}

/** The utilization of the event loop that the server measures: it decides how the texts of replies are paced. */
const UTILIZATIONS = [0, 0, 0.6, 0.9];

/**
 * Replaces what the platform gives the server that is not deterministic: timers, clocks and random numbers. All of it comes from the
 * scheduler. Returns a function that restores the platform.
 */
export function installVirtualPlatform(scheduler: Scheduler): () => void {
	const { random } = scheduler;
	const ownerOfCaller = (): Owner | null => {
		const { currentOwner, hasSeveralProcesses } = scheduler;
		if (hasSeveralProcesses && currentOwner === null) throw new Error('A timer belongs to no process.');
		return currentOwner;
	};

	const startTimer = (label: string, ms: number, owner: Owner | null, run: () => void, channel?: string) =>
		scheduler.schedule({ label, delayMs: ms, owner, run, ...(channel === undefined ? {} : { channel }) });

	const setTimeout = (callback: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): VirtualTimer => {
		const timer = new VirtualTimer();
		timer.task = startTimer(`timeout ${ms}`, Math.max(1, ms), ownerOfCaller(), () => callback(...args));
		return timer;
	};
	const setInterval = (callback: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): VirtualTimer => {
		const timer = new VirtualTimer();
		const owner = ownerOfCaller();
		const tick = () => {
			// Before the callback, which may clear the interval. Many ticks change nothing, so the trace leaves them out.
			timer.task = startTimer('', Math.max(1, ms), owner, tick);
			callback(...args);
		};
		timer.task = startTimer('', Math.max(1, ms), owner, tick);
		return timer;
	};
	const setImmediate = (callback: (...args: unknown[]) => void, ...args: unknown[]): VirtualTimer => {
		const timer = new VirtualTimer();
		const delayMs = random.next() * 0.2;
		timer.task = startTimer('immediate', delayMs, ownerOfCaller(), () => callback(...args), 'immediates');
		return timer;
	};
	const clear = (timer: VirtualTimer | undefined): void => {
		if (timer?.task) timer.task.isCancelled = true;
	};
	const timeoutSignal = (ms: number): AbortSignal => {
		const controller = new AbortController();
		setTimeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms);
		return controller.signal;
	};

	const restores = [
		replace(globalThis, {
			setTimeout,
			setInterval,
			setImmediate,
			clearTimeout: clear,
			clearInterval: clear,
			clearImmediate: clear,
		}),
		replace(Date, { now: () => scheduler.processClock }),
		replace(Math, { random: () => random.next() }),
		replace(AbortSignal, { timeout: timeoutSignal }),
		replace(performance, {
			now: () => scheduler.time,
			eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: random.pick(UTILIZATIONS as [number]) }),
		}),
		replace(timersPromises, { setImmediate: () => new Promise<void>((resolve) => void setImmediate(() => resolve())) }),
	];
	syncBuiltinESMExports();
	return () => {
		for (const restore of restores.reverse()) restore();
		syncBuiltinESMExports();
	};
}

/** Defines properties of an object. Returns a function that restores them. */
function replace(target: object, properties: Record<string, unknown>): () => void {
	const restores = Object.entries(properties).map(([name, value]) => {
		const former = Object.getOwnPropertyDescriptor(target, name);
		Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
		return () => {
			if (former) Object.defineProperty(target, name, former);
			else Reflect.deleteProperty(target, name);
		};
	});
	return () => {
		for (const restore of restores) restore();
	};
}
