import { anySignal } from '../base/index.ts';

/** Aborts a call at its time limit, or when its caller aborts. Dispose it when the call is over. */
export class CallDeadline implements Disposable {
	readonly signal: AbortSignal;
	readonly #controller = new AbortController();
	readonly #timer: NodeJS.Timeout;

	/** @param onTimeout creates the abort reason for the time limit */
	constructor(ms: number, caller: AbortSignal, onTimeout: () => Error) {
		this.#timer = setTimeout(() => this.#controller.abort(onTimeout()), ms);
		// AbortSignal.any adds no listener to the caller's signal, which many calls may share.
		this.signal = anySignal(caller, this.#controller.signal);
	}

	[Symbol.dispose](): void {
		clearTimeout(this.#timer);
		// A signal with listeners is kept in memory until it aborts.
		this.#controller.abort(new Error('the call is over'));
	}
}
