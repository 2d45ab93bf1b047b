import { AppError } from '../base/index.ts';

/** Bounds the operations of one kind that a workspace has in flight: each may hold a connection for long. */
export class InFlightCalls {
	readonly #limit: number;
	readonly #noun: string;
	/** By workspace. */
	readonly #counts = new Map<string, number>();

	/** @param what the operations, in the plural */
	constructor(limit: number, what: string) {
		this.#limit = limit;
		this.#noun = what;
	}

	/**
	 * Runs one operation.
	 * @param maxMs how long it takes at most
	 * @throws AppError `rate_limit_exceeded` while too many of the workspace are in flight
	 */
	async run<T>(workspaceId: string, maxMs: number, task: () => Promise<T>): Promise<T> {
		const count = this.#counts.get(workspaceId) ?? 0;
		if (count >= this.#limit) {
			const retry_after = Math.ceil(maxMs / 1_000);
			throw new AppError('rate_limit_exceeded', `${this.#limit} ${this.#noun} are already running.`, { retry_after });
		}
		this.#counts.set(workspaceId, count + 1);
		try {
			return await task();
		} finally {
			this.#end(workspaceId);
		}
	}

	#end(workspaceId: string): void {
		const remaining = (this.#counts.get(workspaceId) ?? 1) - 1;
		if (remaining > 0) this.#counts.set(workspaceId, remaining);
		else this.#counts.delete(workspaceId);
	}
}
