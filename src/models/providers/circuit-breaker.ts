import type { Clock } from '../../base/index.ts';

/** Failures one after the other that open the circuit. */
const FAILURE_THRESHOLD = 5;
const INITIAL_OPEN_MS = 10_000;
const MAX_OPEN_MS = 120_000;

/** The leave to make one call. It is given back once, by saying how the call went; what is said later counts for nothing. */
export interface CallPermission {
	/** The answer has begun; how the call went is said when it has ended. */
	responseStarted(): void;
	succeeded(): void;
	failed(): void;
	/** The call ended before it could tell anything. */
	released(): void;
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
	#openMs = INITIAL_OPEN_MS;
	/** How long it will be open when it opens again. */
	#nextOpenMs = INITIAL_OPEN_MS;
	/** While `half-open`: the leave of the one who tries. */
	#probe: CallPermission | null = null;

	/** @param onChange is told each new state */
	constructor(clock: Clock, onChange: (state: CircuitState) => void = () => {}) {
		this.#clock = clock;
		this.#onChange = onChange;
	}

	get state(): CircuitState {
		return this.#state;
	}

	/** Whether the next one who asks gets the leave to call. */
	get allowsCall(): boolean {
		if (this.#state !== 'open') return this.#state === 'closed';
		const now = this.#clock.now();
		// A clock that was set back must not keep the circuit open for longer than was meant.
		this.#openUntil = Math.min(this.#openUntil, now + this.#openMs);
		return now >= this.#openUntil;
	}

	/** The leave to call; null while nobody may. */
	tryAcquirePermission(): CallPermission | null {
		if (!this.allowsCall) return null;
		const permission = this.#createPermission();
		if (this.#state === 'open') {
			this.#setState('half-open');
			this.#probe = permission;
		}
		return permission;
	}

	#createPermission(): CallPermission {
		let used = false;
		const once = (act: () => void) => () => {
			if (used) return;
			used = true;
			act();
		};
		const isProbe = () => this.#probe === permission;
		const permission: CallPermission = {
			responseStarted: () => {
				if (isProbe()) this.#closeOnTrial();
			},
			succeeded: once(() => this.#close()),
			failed: once(() => (isProbe() ? this.#open() : this.#countFailure())),
			released: once(() => {
				// Nobody knows more than before: the next caller tries.
				if (isProbe()) this.#setState('open');
			}),
		};
		return permission;
	}

	#close(): void {
		this.#failures = 0;
		this.#nextOpenMs = INITIAL_OPEN_MS;
		if (this.#state !== 'closed') this.#setState('closed');
	}

	#countFailure(): void {
		// Calls from before the circuit opened tell what is known already.
		if (this.#state !== 'closed') return;
		this.#failures++;
		if (this.#failures >= FAILURE_THRESHOLD) this.#open();
	}

	/** Whoever answers may still break off: the first one who has nothing but that to tell is believed. */
	#closeOnTrial(): void {
		this.#failures = FAILURE_THRESHOLD - 1;
		this.#setState('closed');
	}

	#open(): void {
		this.#failures = 0;
		this.#openMs = this.#nextOpenMs;
		this.#nextOpenMs = Math.min(2 * this.#openMs, MAX_OPEN_MS);
		this.#openUntil = this.#clock.now() + this.#openMs;
		this.#setState('open');
	}

	#setState(state: CircuitState): void {
		this.#state = state;
		this.#probe = null;
		this.#onChange(state);
	}
}
