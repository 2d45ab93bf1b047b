import { AppError } from '../base/index.ts';

/** Bounds how many things of one kind a workspace has under way: each may hold a connection for long. */
export class InFlightCalls {
	readonly #limit: number;
	readonly #noun: string;
	/** By workspace. */
	readonly #counts = new Map<string, number>();

	/** @param what the things, in the plural */
	constructor(limit: number, what: string) {
		this.#limit = limit;
		this.#noun = what;
	}

	/**
	 * Does one of them.
	 * @param maxMs how long it takes at most
	 * @throws AppError `rate_limit_exceeded` while too many of the workspace are under way
	 */
	async run<T>(workspaceId: string, maxMs: number, task: () => Promise<T>): Promise<T> {
		const count = this.#counts.get(workspaceId) ?? 0;
		if (count >= this.#limit) {
			const retry_after = Math.ceil(maxMs / 1_000);
			throw new AppError('rate_limit_exceeded', `${this.#limit} ${this.#noun} are under way already.`, { retry_after });
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
