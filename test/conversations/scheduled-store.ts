import type fc from 'fast-check';
import type { Store } from '../../src/store/index.ts';
import { withOverrides } from '../store/overrides.ts';

/** The same store, whose commits and reads are carried out one after the other, in the scheduler's order. */
export function scheduledStore<S extends Store>(store: S, scheduler: fc.Scheduler): S {
	const { commit, get, events } = store;
	return withOverrides<Store>(store, {
		commit: scheduler.scheduleFunction(commit.bind(store)),
		get: scheduler.scheduleFunction(get.bind(store)) as Store['get'],
		events: { after: scheduler.scheduleFunction(events.after.bind(events)) },
	}) as S;
}
