import { messageOf } from './errors.ts';

/** Things that are closed together, in reverse order of taking, each although another fails to close. */
export class AsyncDisposableStack implements AsyncDisposable {
	#resources: Array<AsyncDisposable | Disposable> = [];

	/** Takes a thing to be closed with the rest. */
	use<T extends AsyncDisposable | Disposable>(resource: T): T {
		this.#resources.push(resource);
		return resource;
	}

	/** Hands all things to a new owner; disposal of this one then closes nothing. */
	move(): AsyncDisposableStack {
		const stack = new AsyncDisposableStack();
		stack.#resources = this.#resources;
		this.#resources = [];
		return stack;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const failures: unknown[] = [];
		for (let thing = this.#resources.pop(); thing; thing = this.#resources.pop()) {
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
