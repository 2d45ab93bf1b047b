import type { WidgetEvents } from '../public.d.ts';

type Listener<E extends keyof WidgetEvents> = (detail: WidgetEvents[E]) => void;

/** Tells the page what happens. A listener that fails fails for itself. */
export function createEmitter() {
	const listeners = new Map<string, Set<Listener<never>>>();
	return {
		on<E extends keyof WidgetEvents>(event: E, listener: Listener<E>): () => void {
			const set = listeners.get(event) ?? new Set();
			listeners.set(event, set.add(listener as Listener<never>));
			return () => void set.delete(listener as Listener<never>);
		},
		emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void {
			for (const listener of [...(listeners.get(event) ?? [])]) {
				try {
					(listener as Listener<E>)(detail);
				} catch (error) {
					// As an error of the page's own, where the page's own are seen.
					setTimeout(() => {
						throw error;
					});
				}
			}
		},
	};
}
