import { TextPacing } from './text-pacing.ts';

/**
 * Sends the reports of one reply to its actor, in order. The first text of a round is sent at once. Texts after it are joined if
 * they arrive in one turn of the event loop, or within the time of `TextPacing` while the loop is busy. Every other report is sent
 * at once, after the text that waits. While the mailbox is full, reports wait here.
 */
export class ReportQueue<M> {
	readonly #post: (message: M) => boolean;
	readonly #waitForCapacity: () => Promise<void>;
	readonly #pacing: Pick<TextPacing, 'recordText' | 'delayMs'>;
	readonly #waiting: M[] = [];
	#text = '';
	#asMessage: (text: string) => M = () => {
		throw new Error('no text was added');
	};
	#scheduled = false;
	#timer: NodeJS.Timeout | undefined;
	/** Whether a text was sent since the last other report. */
	#hasBegun = false;
	/** Reports wait: the mailbox is full, or what they depend on is not on disk. */
	#isHeld = false;

	/**
	 * @param post returns false while the mailbox is full
	 * @param waitForCapacity resolves when the mailbox may have capacity
	 */
	constructor(
		post: (message: M) => boolean,
		waitForCapacity: () => Promise<void>,
		pacing: Pick<TextPacing, 'recordText' | 'delayMs'> = new TextPacing(),
	) {
		this.#post = post;
		this.#waitForCapacity = waitForCapacity;
		this.#pacing = pacing;
	}

	/** Holds all reports until a commit is on disk. If it fails, they are dropped, with all that follow. */
	holdUntil(committed: Promise<unknown>): void {
		this.#isHeld = true;
		committed.then(
			() => this.#release(),
			() => {},
		);
	}

	addText(text: string, asMessage: (text: string) => M): void {
		this.#text += text;
		this.#asMessage = asMessage;
		if (this.#hasBegun) this.#schedule();
		else this.#flush();
	}

	add(message: M): void {
		this.#enqueueText();
		this.#cancelTimer();
		this.#hasBegun = false;
		this.#waiting.push(message);
		this.#flush();
	}

	#schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		const send = () => {
			this.#scheduled = false;
			this.#timer = undefined;
			this.#flush();
		};
		const { delayMs } = this.#pacing;
		if (delayMs > 0) this.#timer = setTimeout(send, delayMs);
		else setImmediate(send);
	}

	#cancelTimer(): void {
		if (this.#timer === undefined) return;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#scheduled = false;
	}

	#enqueueText(): void {
		if (this.#text === '') return;
		this.#waiting.push(this.#asMessage(this.#text));
		this.#text = '';
		this.#hasBegun = true;
		this.#pacing.recordText();
	}

	#flush(): void {
		if (this.#isHeld) return;
		this.#enqueueText();
		while (this.#waiting.length > 0) {
			if (!this.#post(this.#waiting[0] as M)) {
				void this.#flushWhenFree();
				return;
			}
			this.#waiting.shift();
		}
	}

	async #flushWhenFree(): Promise<void> {
		this.#isHeld = true;
		await this.#waitForCapacity();
		this.#release();
	}

	#release(): void {
		this.#isHeld = false;
		this.#flush();
	}
}
