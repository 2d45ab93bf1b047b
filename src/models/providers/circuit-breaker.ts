import type { Clock } from '../../base/index.ts';

/** Consecutive failures that open the circuit. */
const FAILURE_THRESHOLD = 5;
const INITIAL_OPEN_MS = 10_000;
const MAX_OPEN_MS = 120_000;

/** The permission for one call. The first report of an outcome releases it; later reports have no effect. */
export interface CallPermission {
	/** The answer has begun. The outcome is reported at its end. */
	responseStarted(): void;
	succeeded(): void;
	failed(): void;
	/** The call ended without an outcome. */
	released(): void;
}

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * Refuses calls after several consecutive failures, so that they fail at once instead of each at its deadline. `closed`:
 * every call is permitted. `open`: no call is permitted, for 10 s, and twice as long after each further failure, 120 s at
 * most. `half-open`: one call is permitted. When its answer begins, further calls are permitted, but until one answer has
 * ended, the next failure opens the circuit again. Its state is four numbers and the permission of the trial call.
 */
export class CircuitBreaker {
	readonly #clock: Clock;
	readonly #onChange: (state: CircuitState) => void;
	#state: CircuitState = 'closed';
	/** Consecutive failures of all calls. */
	#failures = 0;
	#openUntil = 0;
	#openMs = INITIAL_OPEN_MS;
	/** The duration of the next open state. */
	#nextOpenMs = INITIAL_OPEN_MS;
	/** While `half-open`: the permission of the trial call. */
	#probe: CallPermission | null = null;

	/** @param onChange is called with each new state */
	constructor(clock: Clock, onChange: (state: CircuitState) => void = () => {}) {
		this.#clock = clock;
		this.#onChange = onChange;
	}

	get state(): CircuitState {
		return this.#state;
	}

	/** Whether the next call is permitted. */
	get allowsCall(): boolean {
		if (this.#state !== 'open') return this.#state === 'closed';
		const now = this.#clock.now();
		// A clock that is set back must not lengthen the open state.
		this.#openUntil = Math.min(this.#openUntil, now + this.#openMs);
		return now >= this.#openUntil;
	}

	/** The permission for a call; null while no call is permitted. */
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
				// The trial call had no outcome, so the next call is the trial.
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
		// The outcome of a call that began before the circuit opened adds nothing new.
		if (this.#state !== 'closed') return;
		this.#failures++;
		if (this.#failures >= FAILURE_THRESHOLD) this.#open();
	}

	/** An answer that has begun may still break off. The first such failure opens the circuit again. */
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
