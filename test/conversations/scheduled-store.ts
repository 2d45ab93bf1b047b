import type fc from 'fast-check';
import type { Store } from '../../src/store/index.ts';

const SCHEDULED_METHODS = ['commit', 'events', 'get'] as const satisfies Array<keyof Store>;

/** The same store, whose commits and reads are carried out one after the other, in the scheduler's order. */
export function scheduledStore<S extends Store>(store: S, scheduler: fc.Scheduler): S {
	const paced = new Map<string | symbol, unknown>();
	for (const name of SCHEDULED_METHODS) {
		const method = Reflect.get(store, name) as (...args: unknown[]) => Promise<unknown>;
		paced.set(name, scheduler.scheduleFunction(method.bind(store)));
	}
	return new Proxy(store, {
		get(target, name) {
			const value: unknown = paced.get(name) ?? Reflect.get(target, name);
			return typeof value === 'function' && !paced.has(name) ? value.bind(target) : value;
		},
	});
}
