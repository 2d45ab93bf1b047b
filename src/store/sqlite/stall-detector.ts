/** Checks in a row without any answer after which the disk counts as stalled. The longest waits for a lock are five seconds. */
const STALLED_CHECKS = 20;
const STALL_CHECK_MS = 1_000;

/** What is reported about a writer that does not answer. */
export const STALLED_MESSAGE = `The writer has not answered for ${(STALL_CHECK_MS * STALLED_CHECKS) / 1_000} seconds.`;

export interface StallDetectorOptions {
	/** Milliseconds between two checks; a second by default. */
	checkMs?: number | undefined;
	/** Whether tasks wait for the writer. */
	isWaiting: () => boolean;
	/** Called once for each stall. */
	onStall: () => void;
}

/** Detects a writer that no longer answers. It counts checks, not time: while this thread is blocked, answers wait to be read. */
export class StallDetector implements Disposable {
	readonly #isWaiting: () => boolean;
	readonly #onStall: () => void;
	readonly #timer: NodeJS.Timeout;
	/** Checks in a row at which tasks waited and none had been answered since the check before. */
	#checksWithoutProgress = 0;
	#madeProgress = false;

	constructor({ checkMs = STALL_CHECK_MS, isWaiting, onStall }: StallDetectorOptions) {
		this.#isWaiting = isWaiting;
		this.#onStall = onStall;
		this.#timer = setInterval(() => this.#check(), checkMs);
		this.#timer.unref();
	}

	/** Whether tasks waited at the last check, and none has been answered since the check before it. */
	get isLate(): boolean {
		return this.#checksWithoutProgress > 0 && !this.#madeProgress;
	}

	/** Reports that the writer has answered. */
	recordProgress(): void {
		this.#madeProgress = true;
	}

	#check(): void {
		this.#checksWithoutProgress = this.#madeProgress || !this.#isWaiting() ? 0 : this.#checksWithoutProgress + 1;
		this.#madeProgress = false;
		if (this.#checksWithoutProgress === STALLED_CHECKS) this.#onStall();
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}
}
