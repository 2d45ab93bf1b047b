import { type Deferred, deferred } from '../../src/base/index.ts';
import { createPool, type Pool } from '../../src/pool/index.ts';

/**
 * The real workers behind a gate that a test may close: what is to be parsed waits there. Can be used again after it was
 * disposed of, so that a server and the one restarted after it may share it.
 */
export class GatedPool implements Pool {
	readonly size = 2;
	/** Files parsed so far, and those at the gate. */
	parsed = 0;
	waiting = 0;
	#real: Pool | undefined;
	#gate: Deferred<void> | undefined;

	/** From now on parsing waits. */
	close(): void {
		this.#gate ??= deferred();
	}

	open(): void {
		this.#gate?.resolve();
		this.#gate = undefined;
	}

	async parse(...args: Parameters<Pool['parse']>): ReturnType<Pool['parse']> {
		const [, signal] = args;
		if (this.#gate) {
			this.waiting++;
			const aborted = new Promise((_resolve, reject) => {
				signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
			});
			try {
				await Promise.race([this.#gate.promise, aborted]);
			} finally {
				this.waiting--;
			}
		}
		this.parsed++;
		return this.#pool.parse(...args);
	}

	fold: Pool['fold'] = (...args) => this.#pool.fold(...args);
	train: Pool['train'] = (...args) => this.#pool.train(...args);
	search: Pool['search'] = (...args) => this.#pool.search(...args);

	async [Symbol.asyncDispose](): Promise<void> {
		const real = this.#real;
		this.#real = undefined;
		await real?.[Symbol.asyncDispose]();
	}

	get #pool(): Pool {
		this.#real ??= createPool({ threads: this.size });
		return this.#real;
	}
}
