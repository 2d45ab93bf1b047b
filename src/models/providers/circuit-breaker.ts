import type { Clock } from '../../base/index.ts';

/** Failures one after the other that open the circuit. */
const FAILURES = 5;
const FIRST_OPEN_MS = 10_000;
const LONGEST_OPEN_MS = 120_000;

/** The leave to make one call. It is given back once, by saying how the call went; what is said later counts for nothing. */
export interface Permit {
	succeeded(): void;
	failed(): void;
	/** The call ended before it could tell anything. */
	abandoned(): void;
}

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * Keeps callers from what has failed several times in a row, so that they fail at once instead of after a deadline each.
 * `closed`: all may call. `open`: nobody may, for 10 s, after each further failure for twice as long, 120 s at most.
 * `half-open`: one may try, the others may not; if it succeeds the circuit is closed. Its whole memory is three numbers.
 */
export class CircuitBreaker {
	readonly #clock: Clock;
	readonly #onChange: (state: CircuitState) => void;
	#state: CircuitState = 'closed';
	/** One after the other, in all calls. */
	#failures = 0;
	#openUntil = 0;
	#openMs = FIRST_OPEN_MS;

	/** @param onChange is told each new state */
	constructor(clock: Clock, onChange: (state: CircuitState) => void = () => {}) {
		this.#clock = clock;
		this.#onChange = onChange;
	}

	get state(): CircuitState {
		return this.#state;
	}

	/** The leave to call; null while nobody may. */
	enter(): Permit | null {
		if (this.#state === 'half-open') return null;
		if (this.#state === 'open') {
			const now = this.#clock.now();
			// A clock that was set back must not keep the circuit open for longer than was meant.
			this.#openUntil = Math.min(this.#openUntil, now + this.#openMs);
			if (now < this.#openUntil) return null;
			this.#become('half-open');
			return this.#permit(true);
		}
		return this.#permit(false);
	}

	#permit(isProbe: boolean): Permit {
		let used = false;
		const once = (act: () => void) => () => {
			if (used) return;
			used = true;
			act();
		};
		return {
			succeeded: once(() => this.#close()),
			failed: once(() => (isProbe ? this.#openAgain() : this.#countFailure())),
			abandoned: once(() => {
				// Nobody knows more than before: the next caller tries.
				if (isProbe && this.#state === 'half-open') this.#become('open');
			}),
		};
	}

	#close(): void {
		this.#failures = 0;
		this.#openMs = FIRST_OPEN_MS;
		if (this.#state !== 'closed') this.#become('closed');
	}

	#countFailure(): void {
		// Calls from before the circuit opened tell what is known already.
		if (this.#state !== 'closed') return;
		this.#failures++;
		if (this.#failures >= FAILURES) this.#open();
	}

	#openAgain(): void {
		if (this.#state !== 'half-open') return;
		this.#openMs = Math.min(2 * this.#openMs, LONGEST_OPEN_MS);
		this.#open();
	}

	#open(): void {
		this.#failures = 0;
		this.#openUntil = this.#clock.now() + this.#openMs;
		this.#become('open');
	}

	#become(state: CircuitState): void {
		this.#state = state;
		this.#onChange(state);
	}
}
