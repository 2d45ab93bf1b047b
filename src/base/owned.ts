import { messageOf } from './errors.ts';

/** Things that are closed together, in reverse order of taking, each although another fails to close. */
export class Owned implements AsyncDisposable {
	#things: Array<AsyncDisposable | Disposable> = [];

	/** Takes a thing to be closed with the rest. */
	use<T extends AsyncDisposable | Disposable>(thing: T): T {
		this.#things.push(thing);
		return thing;
	}

	/** Hands all things to a new owner; disposal of this one then closes nothing. */
	move(): Owned {
		const next = new Owned();
		next.#things = this.#things;
		this.#things = [];
		return next;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const failures: unknown[] = [];
		for (let thing = this.#things.pop(); thing; thing = this.#things.pop()) {
			try {
				if (Symbol.asyncDispose in thing) await thing[Symbol.asyncDispose]();
				else thing[Symbol.dispose]();
			} catch (error) {
				failures.push(error);
			}
		}
		if (failures.length === 0) return;
		throw new AggregateError(failures, `not everything could be closed: ${failures.map(messageOf).join('; ')}`);
	}
}
