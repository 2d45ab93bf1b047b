import type { Clock } from '../../base/index.ts';

/** Failures one after the other that open the circuit. */
const FAILURES = 5;
const FIRST_OPEN_MS = 10_000;
const LONGEST_OPEN_MS = 120_000;

/** The leave to make one call. It is given back once, by saying how the call went; what is said later counts for nothing. */
export interface Permit {
	/** The answer has begun; how the call went is said when it has ended. */
	began(): void;
	succeeded(): void;
	failed(): void;
	/** The call ended before it could tell anything. */
	abandoned(): void;
}

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * Keeps callers from what has failed several times in a row, so that they fail at once instead of after a deadline each.
 * `closed`: all may call. `open`: nobody may, for 10 s, after each further failure for twice as long, 120 s at most.
 * `half-open`: one may try, the others may not; when its answer begins the others are let in, but until an answer has come
 * to its end the next failure opens the circuit again. It remembers four numbers and who tries.
 */
export class CircuitBreaker {
	readonly #clock: Clock;
	readonly #onChange: (state: CircuitState) => void;
	#state: CircuitState = 'closed';
	/** One after the other, in all calls. */
	#failures = 0;
	#openUntil = 0;
	#openMs = FIRST_OPEN_MS;
	/** How long it will be open when it opens again. */
	#nextOpenMs = FIRST_OPEN_MS;
	/** While `half-open`: the leave of the one who tries. */
	#probe: Permit | null = null;

	/** @param onChange is told each new state */
	constructor(clock: Clock, onChange: (state: CircuitState) => void = () => {}) {
		this.#clock = clock;
		this.#onChange = onChange;
	}

	get state(): CircuitState {
		return this.#state;
	}

	/** Whether the next one who asks gets the leave to call. */
	get isPassable(): boolean {
		if (this.#state !== 'open') return this.#state === 'closed';
		const now = this.#clock.now();
		// A clock that was set back must not keep the circuit open for longer than was meant.
		this.#openUntil = Math.min(this.#openUntil, now + this.#openMs);
		return now >= this.#openUntil;
	}

	/** The leave to call; null while nobody may. */
	enter(): Permit | null {
		if (!this.isPassable) return null;
		const permit = this.#permit();
		if (this.#state === 'open') {
			this.#become('half-open');
			this.#probe = permit;
		}
		return permit;
	}

	#permit(): Permit {
		let used = false;
		const once = (act: () => void) => () => {
			if (used) return;
			used = true;
			act();
		};
		const isProbe = () => this.#probe === permit;
		const permit: Permit = {
			began: () => {
				if (isProbe()) this.#letIn();
			},
			succeeded: once(() => this.#close()),
			failed: once(() => (isProbe() ? this.#open() : this.#countFailure())),
			abandoned: once(() => {
				// Nobody knows more than before: the next caller tries.
				if (isProbe()) this.#become('open');
			}),
		};
		return permit;
	}

	#close(): void {
		this.#failures = 0;
		this.#nextOpenMs = FIRST_OPEN_MS;
		if (this.#state !== 'closed') this.#become('closed');
	}

	#countFailure(): void {
		// Calls from before the circuit opened tell what is known already.
		if (this.#state !== 'closed') return;
		this.#failures++;
		if (this.#failures >= FAILURES) this.#open();
	}

	/** Whoever answers may still break off: the first one who has nothing but that to tell is believed. */
	#letIn(): void {
		this.#failures = FAILURES - 1;
		this.#become('closed');
	}

	#open(): void {
		this.#failures = 0;
		this.#openMs = this.#nextOpenMs;
		this.#nextOpenMs = Math.min(2 * this.#openMs, LONGEST_OPEN_MS);
		this.#openUntil = this.#clock.now() + this.#openMs;
		this.#become('open');
	}

	#become(state: CircuitState): void {
		this.#state = state;
		this.#probe = null;
		this.#onChange(state);
	}
}
