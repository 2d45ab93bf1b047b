import { anySignal } from '../base/index.ts';

/** The end of a call: its time limit, or that its caller gives up. To be disposed of when the call is over. */
export class CallDeadline implements Disposable {
	readonly signal: AbortSignal;
	readonly #controller = new AbortController();
	readonly #timer: NodeJS.Timeout;

	/** @param onTimeout makes the reason of an end by the time limit */
	constructor(ms: number, caller: AbortSignal, onTimeout: () => Error) {
		this.#timer = setTimeout(() => this.#controller.abort(onTimeout()), ms);
		// Unlike a listener of ours, it does not count as one with the caller's signal, which many calls may share.
		this.signal = anySignal(caller, this.#controller.signal);
	}

	[Symbol.dispose](): void {
		clearTimeout(this.#timer);
		// A signal that somebody listens to is kept until it aborts.
		this.#controller.abort(new Error('the call is over'));
	}
}
