import type { WidgetEvents } from '../public.d.ts';

type Listener<E extends keyof WidgetEvents> = (detail: WidgetEvents[E]) => void;

/** Sends events to the page's listeners. A listener that throws does not affect the others. */
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
					// Reported as an uncaught error of the page.
					setTimeout(() => {
						throw error;
					});
				}
			}
		},
	};
}
