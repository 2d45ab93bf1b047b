import type { EndpointFetch } from '../../net/index.ts';

type Body = ReadableStream<Uint8Array>;

/**
 * Stands between a library and the network, so that the library writes a request and its answer is read elsewhere; and, where
 * that reader wants it, reads an answer that came before. An exchange is known by the signal of its request.
 */
export class OpenExchanges {
	readonly #network: EndpointFetch;
	readonly #bodies = new WeakMap<AbortSignal, Body>();

	constructor(network: EndpointFetch) {
		this.#network = network;
	}

	/** What the library calls. */
	readonly fetch: EndpointFetch = async (input, init) => {
		const signal = init?.signal;
		const given = signal ? this.#bodies.get(signal) : undefined;
		if (given !== undefined) return new Response(given);
		const response = await this.#network(input, init);
		// Answers that tell of an error are the library's.
		if (!response.ok || response.body === null) return response;
		throw new Taken(response.body);
	};

	/**
	 * The body of the answer to a request which the library makes.
	 * @param ask has the library make it
	 * @throws what the library throws of an answer that tells of an error, or of none
	 */
	async begin(ask: () => PromiseLike<unknown>): Promise<Body> {
		try {
			await ask();
		} catch (thrown) {
			if (thrown instanceof Taken) return thrown.body;
			throw thrown;
		}
		throw new Error('The library has not asked.');
	}

	/** Has the library ask once more, and gives it this body for the answer. */
	reading<T>(signal: AbortSignal, body: Body, ask: () => T): T {
		this.#bodies.set(signal, body);
		return ask();
	}
}

/** Thrown through the library, which passes on what it does not know. No error: nobody looks at its stack. */
class Taken {
	readonly body: Body;

	constructor(body: Body) {
		this.body = body;
	}
}
