import type { Unready } from './api/index.ts';

const NOT_READY = {
	starting: { reason: 'starting', message: 'The server is starting.' },
	stopping: { reason: 'stopping', message: 'The server is stopping.' },
} as const;

/** Whether the server can do its work, and if not, why. `/readyz` shows it. */
export class Readiness {
	state: 'starting' | 'ready' | 'stopping' = 'starting';
	/** What the work depends on: whether the database can be written, and the place in a cluster. */
	readonly conditions: { readonly problem: Unready | null }[] = [];

	/** Why the server is not ready; null if it is. */
	get problem(): Unready | null {
		if (this.state !== 'ready') return NOT_READY[this.state];
		return this.conditions.find(({ problem }) => problem !== null)?.problem ?? null;
	}
}
