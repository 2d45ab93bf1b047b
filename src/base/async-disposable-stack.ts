import { messageOf } from './errors.ts';

/** Resources that are disposed together, in reverse order, each even when another one fails. */
export class AsyncDisposableStack implements AsyncDisposable {
	#resources: Array<AsyncDisposable | Disposable> = [];

	/** Adds a resource. */
	use<T extends AsyncDisposable | Disposable>(resource: T): T {
		this.#resources.push(resource);
		return resource;
	}

	/** Moves all resources to a new stack; disposing this one then does nothing. */
	move(): AsyncDisposableStack {
		const stack = new AsyncDisposableStack();
		stack.#resources = this.#resources;
		this.#resources = [];
		return stack;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const failures: unknown[] = [];
		for (let resource = this.#resources.pop(); resource; resource = this.#resources.pop()) {
			try {
				if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
				else resource[Symbol.dispose]();
			} catch (error) {
				failures.push(error);
			}
		}
		if (failures.length === 0) return;
		throw new AggregateError(failures, `not everything could be closed: ${failures.map(messageOf).join('; ')}`);
	}
}
