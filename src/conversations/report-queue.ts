/**
 * Reports of one reply on their way to its actor, in order: texts of one turn of the event loop travel joined, and where the
 * mailbox has no room they wait.
 */
export class ReportQueue<M> {
	/** False: there is no room now. */
	readonly #post: (message: M) => boolean;
	readonly #waiting: M[] = [];
	#text = '';
	#asMessage: (text: string) => M = () => {
		throw new Error('no text was added');
	};
	#scheduled = false;

	constructor(post: (message: M) => boolean) {
		this.#post = post;
	}

	addText(text: string, asMessage: (text: string) => M): void {
		this.#text += text;
		this.#asMessage = asMessage;
		this.#schedule();
	}

	add(message: M): void {
		this.#closeText();
		this.#waiting.push(message);
		this.#flush();
	}

	#schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		setImmediate(() => {
			this.#scheduled = false;
			this.#closeText();
			this.#flush();
		});
	}

	#closeText(): void {
		if (this.#text === '') return;
		this.#waiting.push(this.#asMessage(this.#text));
		this.#text = '';
	}

	#flush(): void {
		while (this.#waiting.length > 0) {
			if (!this.#post(this.#waiting[0] as M)) {
				this.#schedule();
				return;
			}
			this.#waiting.shift();
		}
	}
}
