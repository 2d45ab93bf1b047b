import { type Clock, elapsedMs } from '../base/index.ts';

/** Measures how long the writing of a reply takes, and when its first text came. */
export class ReplyTimer {
	readonly #clock: Clock;
	readonly #start: number;
	#firstTokenMs: number | null = null;

	constructor(clock: Clock) {
		this.#clock = clock;
		this.#start = elapsedMs(clock);
	}

	/** Until the first text; null before it. */
	get firstTokenMs(): number | null {
		return this.#firstTokenMs;
	}

	get elapsedMs(): number {
		return Math.max(0, Math.round(elapsedMs(this.#clock) - this.#start));
	}

	recordText(): void {
		this.#firstTokenMs ??= this.elapsedMs;
	}
}
