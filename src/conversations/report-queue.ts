/**
 * Sends the reports of one reply to its actor, in order. Texts of one turn of the event loop are joined. While the mailbox is
 * full, reports wait here.
 */
export class ReportQueue<M> {
	readonly #post: (message: M) => boolean;
	readonly #waitForCapacity: () => Promise<void>;
	readonly #waiting: M[] = [];
	#text = '';
	#asMessage: (text: string) => M = () => {
		throw new Error('no text was added');
	};
	#scheduled = false;
	#isFull = false;

	/**
	 * @param post returns false while the mailbox is full
	 * @param waitForCapacity resolves when the mailbox may have capacity
	 */
	constructor(post: (message: M) => boolean, waitForCapacity: () => Promise<void>) {
		this.#post = post;
		this.#waitForCapacity = waitForCapacity;
	}

	addText(text: string, asMessage: (text: string) => M): void {
		this.#text += text;
		this.#asMessage = asMessage;
		this.#schedule();
	}

	add(message: M): void {
		this.#enqueueText();
		this.#waiting.push(message);
		this.#flush();
	}

	#schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		setImmediate(() => {
			this.#scheduled = false;
			this.#flush();
		});
	}

	#enqueueText(): void {
		if (this.#text === '') return;
		this.#waiting.push(this.#asMessage(this.#text));
		this.#text = '';
	}

	#flush(): void {
		if (this.#isFull) return;
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
		this.#isFull = true;
		await this.#waitForCapacity();
		this.#isFull = false;
		this.#flush();
	}
}
