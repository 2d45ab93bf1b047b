import type { Unready } from './api/index.ts';

const NOT_READY = {
	starting: { reason: 'starting', message: 'The server is starting.' },
	stopping: { reason: 'stopping', message: 'The server is stopping.' },
} as const;

/** Whether the server can do its work, and if not, why. `/readyz` shows it. */
export class Readiness {
	state: 'starting' | 'ready' | 'stopping' = 'starting';
	/** Whether the database can be written. */
	writes: { readonly problem: Unready | null } = { problem: null };

	/** Why the server is not ready; null if it is. */
	get problem(): Unready | null {
		return this.state === 'ready' ? this.writes.problem : NOT_READY[this.state];
	}
}
